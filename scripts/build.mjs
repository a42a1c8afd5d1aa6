// Compiles TypeScript and copies what is not TypeScript (scripts for nodes, pages) beside it.
// usage: node scripts/build.mjs dist   the shipped code only
//        node scripts/build.mjs build  shipped code and test/lab, for the demo and the end-to-end tests
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = process.argv[2] === 'build' ? 'build' : 'dist'
const out = join(root, target)
rmSync(out, { recursive: true, force: true })
const project = target === 'build' ? 'tsconfig.lab.json' : 'tsconfig.build.json'
const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
  cwd: root,
  stdio: 'inherit',
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)

const notCode = source => !['.ts', '.tsx'].includes(extname(source))
const copies =
  target === 'build'
    ? [
        ['src', 'src'],
        ['test/lab', 'test/lab'],
      ]
    : [['src', '.']]
for (const [from, to] of copies) {
  if (existsSync(join(root, from)))
    cpSync(join(root, from), join(out, to), { recursive: true, filter: notCode })
}
