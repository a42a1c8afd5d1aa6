import { accessSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'

const executablePath = '/usr/bin/chromium'
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function openBrowser(): Promise<Browser> {
  try {
    accessSync(executablePath)
  } catch {
    throw new Error(`${executablePath} is missing: apt-get install chromium`)
  }
  return chromium.launch({ executablePath, args })
}

/** Keeps a picture under `artifacts/`, which is not part of the repository. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = fileURLToPath(new URL('../../../artifacts/lab-slack/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}${name}.png` })
}

/** What a person can read there. */
export const wordsOf = async (place: Locator): Promise<string> => (await place.allInnerTexts()).join('\n')
