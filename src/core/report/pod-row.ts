import type { PodRow } from './report.js'

const readyColumn = /^(\d{1,4})\/(\d{1,4})$/
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?=.*:)[0-9a-f:.]{2,45}(?<!:))$/i
const none = new Set(['<none>', '<unset>', '-'])

/**
 * One line of `kubectl get pods`, with or without namespace and the wide columns; nothing for a header or a line of
 * another kind. Columns are found by what they look like, since versions and `-A` move them.
 */
export const readPodRow = (text: string): PodRow | undefined => {
  const words = text
    .slice(0, 2_000)
    .replaceAll(/\([^()]*\)/g, ' ')
    .trim()
    .split(/\s+/)
  const at = words.findIndex(word => readyColumn.test(word))
  const before = at === -1 ? words.slice(0, 1) : words.slice(0, at)
  const name = before.at(-1)
  if (name === undefined || name === '' || name === 'NAME' || (at === -1 && words.length < 2))
    return undefined
  const [space, bare] = name.includes('/') ? [name.split('/')[0], name.split('/')[1]] : [before.at(-2), name]
  const [, ready, containers] = readyColumn.exec(words[at] ?? '') ?? []
  const after = words.slice(at === -1 ? 1 : at + 1)
  const ip = after.findIndex((word, n) => n > 1 && (address.test(word) || none.has(word)))
  const found = after[ip]
  const next = after.slice(ip + 1).find(word => !word.includes('='))
  return {
    namespace: space,
    name: bare ?? name,
    ready: ready === undefined ? undefined : Number(ready),
    containers: containers === undefined ? undefined : Number(containers),
    status: after[0] ?? '',
    restarts: /^\d+$/.test(after[1] ?? '') ? Number(after[1]) : undefined,
    ip: found === undefined || none.has(found) ? undefined : found,
    node: ip === -1 || next === undefined || none.has(next) ? undefined : next,
    text,
  }
}
