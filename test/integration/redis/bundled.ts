import { mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Program {
  path: string
  remove(): void
}

/** A program of ours that `node` can run by itself. It lies where packages are found, and is removed again. */
export const bundled = async (source: string): Promise<Program> => {
  const dir = mkdtempSync(join(root, 'node_modules/.cnibot-program-'))
  await build({
    entryPoints: [join(root, source)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // What is imported only when it is needed stays so.
    splitting: true,
    outdir: dir,
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
  })
  const path = join(dir, basename(source).replace(/\.ts$/, '.mjs'))
  return { path, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
