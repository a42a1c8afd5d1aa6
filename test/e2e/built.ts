import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtCli } from '../lab/world.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The compiled program that the tests start. Throws when it is missing or older than its source, which would show
 * yesterday's behaviour. CNIBOT_TEST_CLI names one that was compiled to another folder.
 */
export const builtProgram = (): string => {
  const cli = process.env.CNIBOT_TEST_CLI ?? builtCli
  const shown = relative(root, cli)
  const compile = 'compile it with `node scripts/build.mjs build`'
  if (!existsSync(cli)) throw new Error(`${shown} is missing: ${compile}`)
  const built = statSync(cli).mtimeMs
  const newer = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|sh)$/.test(name))
    .find(name => statSync(join(root, 'src', name)).mtimeMs > built)
  if (newer !== undefined && process.env.CNIBOT_TEST_CLI === undefined)
    throw new Error(`${shown} is older than src/${newer}: ${compile}`)
  return cli
}
