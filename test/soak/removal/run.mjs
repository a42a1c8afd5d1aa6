// Races the removal of leaked addresses against real ADDs and DELs, and kills everything meanwhile.
// usage: node test/soak/removal/run.mjs [--rounds N] [--seed S] [--stores N] [--runtime KIND] [--script FILE] [--json]
// Puts the programs together in a folder of their own first: a long soak does not notice when the checkout changes.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const here = join(root, 'test/soak/removal')
const out = mkdtempSync(join(tmpdir(), 'cnibot-soak-programs-'))
await build({
  entryPoints: ['main', 'actor'].map(name => join(here, `${name}.ts`)),
  outdir: out,
  bundle: true,
  platform: 'node',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
})
for (const name of ['remove-orphans.sh', 'probe.sh', 'probe-runtime.sh', 'probe-journal.sh'])
  cpSync(join(root, 'src/adapters/ssh', name), join(out, name))
cpSync(join(here, 'programs'), join(out, 'programs'), { recursive: true })
cpSync(join(root, 'test/lab/nodes/bin'), join(out, 'lab-programs'), { recursive: true })
cpSync(join(out, 'lab-programs/date'), join(out, 'programs/date'))

// A script that stands still holds one of the threads that wait for it.
const env = { ...process.env, UV_THREADPOOL_SIZE: '24' }
const child = spawn(
  process.execPath,
  ['--enable-source-maps', join(out, 'main.mjs'), ...process.argv.slice(2)],
  {
    env,
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.once('exit', code => {
  rmSync(out, { recursive: true, force: true })
  process.exitCode = code ?? 1
})
