import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsReference } from '../../src/settings/reference.js'
import { runbookReference } from '../../src/view/runbook-reference.js'

const root = join(import.meta.dirname, '../..')
const stale = (page: string, text: string): string | undefined =>
  readFileSync(join(root, page), 'utf8') === text ? undefined : `${page} is stale: run npm run docs`

describe('pages made from the code', () => {
  it('runbooks/README.md says what the schema reads', () => {
    expect(stale('runbooks/README.md', runbookReference())).toBeUndefined()
  })

  it('docs/settings.md says what the settings are', () => {
    expect(stale('docs/settings.md', settingsReference())).toBeUndefined()
  })

  it('say what a switch takes', () => {
    const row = runbookReference().match(/^\| `delete_emptydir_data` .*$/m)?.[0]
    expect(row).toMatch(/^\| `delete_emptydir_data` \| `true`, `false` \| `false` \|/)
  })

  it('explain every field', () => {
    const rows = runbookReference().match(/^\| `.*\|$/gm) ?? []
    expect(rows.length).toBeGreaterThan(15)
    expect(rows.filter(row => /\|\s*\|$/.test(row))).toEqual([])
  })
})
