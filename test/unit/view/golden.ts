import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Compares with `golden/<name>.golden.json`; UPDATE_GOLDEN=1 writes it anew, to be read before it is committed. */
export const expectGolden = (name: string, value: unknown): void => {
  const path = fileURLToPath(new URL(`./golden/${name}.golden.json`, import.meta.url))
  const text = `${JSON.stringify(value, null, 2)}\n`
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  if (!existsSync(path))
    throw new Error(`${path} is missing: run this test with UPDATE_GOLDEN=1 and read what it writes`)
  expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(path, 'utf8')))
}
