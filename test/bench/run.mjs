// Runs a bench of this folder in the program's own shape. usage: node test/bench/run.mjs NAME [arguments]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const [name = 'explain', ...rest] = process.argv.slice(2)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'cnibot-bench-'))
const outfile = join(folder, `${name}.mjs`)
await build({
  entryPoints: [join(root, 'test/bench', `${name}.ts`)],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
})
const { status } = spawnSync(process.execPath, [outfile, ...rest], { cwd: root, stdio: 'inherit' })
rmSync(folder, { recursive: true, force: true })
process.exitCode = status ?? 1
