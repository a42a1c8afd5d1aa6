import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface LookedAt {
  root: string
  /** What the node's own clock says. */
  now: () => number
  endpoint: string
  unit: string
  storeDir: string
  /** Real waits before the contents, the runtime, its list and its records. */
  waitsMs: readonly number[]
}

const frame = (name: string, at: number, body: string, code = 0, said = ''): string =>
  `>${name} ${(at / 1000).toFixed(3)}\n${body
    .split('\n')
    .map(line => ` ${line}`)
    .join('\n')}\n=${code} ${said}\n`

const text = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const names = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const storeEntries = (store: string, dir: string): string => {
  let body = `@${dir}\0`
  for (const name of names(store)) {
    try {
      const { ino, size, mtimeMs } = statSync(join(store, name))
      body += `rf ${ino} ${size} ${(mtimeMs / 1000).toFixed(7)} ${name}\0`
    } catch {
      // Freed between the two calls, as with find.
    }
  }
  return body
}

const storeContents = (store: string, dir: string): string => {
  const lines = names(store)
    .filter(name => /^[0-9]/.test(name))
    .flatMap(name =>
      text(join(store, name))
        .split('\n')
        .filter(Boolean)
        .map(line => `${name}\t${line}`),
    )
  return [`@${dir}`, ...lines].join('\n')
}

const recordsOf = ({ root, endpoint }: LookedAt): string => {
  const state = join(root, '.lab')
  if (endpoint.includes('crio')) {
    const graphroot = /graphroot = "(.*)"/.exec(text(join(root, 'etc/containers/storage.conf')))?.[1] ?? ''
    const folder = `${graphroot}/overlay-containers`
    const code = existsSync(join(root, folder)) ? 0 : 1
    return [`@${folder}`, ...names(join(root, folder)), `!${code}`].join('\n')
  }
  const code = existsSync(join(state, 'records-silent')) ? 1 : 0
  const asked = (what: string, file: string) =>
    `@ctr -n k8s.io ${what} ls\n${code === 0 ? text(join(state, file)) : ''}\n!${code}`
  return `${asked('containers', 'ctr-containers')}\n${asked('sandboxes', 'ctr-sandboxes')}`
}

const heldOf = (root: string): string => {
  const spaces = names(join(root, 'run/netns')).map(
    name => `@namespace ${name}\n${text(join(root, `.lab/netns/${name}/addr.json`)) || '[]'}`,
  )
  return [...spaces, '@neighbour\n[]', '@route\n[]', '@route\n[]', '@host\n[]'].join('\n')
}

/**
 * What the probe prints in its short form, put together without starting its fifty processes: same questions in the
 * same order, from the files its programs would print. One of fifty readings is the real probe's.
 */
export const quickLook = async (node: LookedAt): Promise<string> => {
  const { root, now, endpoint, unit, storeDir, waitsMs } = node
  const store = join(root, storeDir)
  const state = join(root, '.lab')
  const up = text(join(state, 'runtime')).trim()
  const pause = (index: number) => delay(waitsMs[index] ?? 0)
  const seconds = (now() / 1000).toFixed(3)
  const boot = text(join(root, 'proc/sys/kernel/random/boot_id')).trim()
  const booted = /^btime (\d+)/m.exec(text(join(root, 'proc/stat')))?.[1] ?? ''
  const host = `hostname node-07\nnow ${seconds}\nuid 0\nboot_id ${boot}\nbtime ${booted}`
  const conflist = '/etc/cni/net.d/10-k8s-pod-network.conflist'
  const lines = text(join(root, conflist)).split('\n')
  let out = frame('host', now(), host)
  out += frame('conflist', now(), [`@${conflist}`, ...lines.map(line => `|${line}`)].join('\n'))
  out += frame('stores', now(), storeEntries(store, storeDir))
  await pause(0)
  out += frame('contents', now(), storeContents(store, storeDir))
  await pause(1)
  const down = up === 'down' ? 1 : 0
  const said = down === 1 ? 'connect: connection refused' : ''
  const from = 'endpoint %\nfrom /var/lib/kubelet/config.yaml'.replace('%', endpoint)
  out += frame('runtime', now(), `${from}\n${text(join(state, 'crictl-version.txt'))}`, down, said)
  await pause(2)
  const list = { empty: 'nothing/pods.json', part: 'part/pods.json' }[up] ?? 'pods.json'
  out += frame('sandboxes', now(), down === 1 ? '' : text(join(state, list)), down, said)
  await pause(3)
  out += frame('records', now(), down === 1 || up === 'empty' ? '' : recordsOf(node), down, said)
  out += frame('held', now(), heldOf(root))
  const started = text(join(state, 'runtime-started')).trim()
  out += frame('restarts', now(), `${unit} ExecMainStartTimestamp=@${started}`)
  return `${out}>end ${seconds}\n`
}
