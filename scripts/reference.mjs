// Writes the pages that are made from the code: runbooks/README.md and docs/settings.md.
// usage: npm run docs
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = [
  { from: 'src/view/runbook-reference.ts', write: 'runbookReference', to: 'runbooks/README.md' },
  { from: 'src/settings/reference.ts', write: 'settingsReference', to: 'docs/settings.md' },
]
for (const page of pages) {
  const { outputFiles } = await build({
    entryPoints: [join(root, page.from)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
  })
  const code = Buffer.from(outputFiles[0].contents).toString('base64')
  const module = await import(`data:text/javascript;base64,${code}`)
  mkdirSync(dirname(join(root, page.to)), { recursive: true })
  writeFileSync(join(root, page.to), module[page.write]())
  console.log(page.to)
}
