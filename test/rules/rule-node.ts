import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  encodeOrder,
  encodeRemovalList,
  readRemovalReport,
} from '../../src/core/evidence/parse/removal-report.js'
import { type Ran, run } from '../integration/node/on-node.js'
import { ipamAddMany, pluginFolder } from '../lab/nodes/host-local.js'

export interface Entry {
  ip: string
  owner: string
  content: string
  inode: number
  size: number
}

const network = 'k8s-pod-network'
export const store = `/var/lib/cni/networks/${network}`
const boot = '3b7b2c5e-0d6f-4a55-9b0e-1f3a5d6c7e81'
export const quarantineOf = (op: string): string => `/var/lib/cni/cnibot-quarantine/${op}/${network}`

/** Each program first notes whether the plugin's lock is held while it is asked: nothing slow may run under it. */
const program = (body: string): string => `#!/bin/sh
cd "$CNIBOT_NODE_ROOT" || exit 1
[ ! -f .${store}/lock ] || flock -n .${store}/lock true || echo "\${0##*/} $*" >>asked-under-lock
[ ! -e "down-\${0##*/}" ] || { echo 'connection refused' >&2; exit 1; }
${body}
`
const programs: Record<string, string> = {
  crictl: `case $* in
  *version) printf 'RuntimeName:  containerd\\nRuntimeVersion:  1.7.24\\n' ;;
  *'pods -q') [ ! -e down-pods ] || { echo 'no list' >&2; exit 1; }; cat listed ;;
  *) exit 1 ;;
esac`,
  ctr: `case $* in *'containers ls -q') cat records ;; *) echo ID ;; esac`,
  ip: `case $* in
  '-n '*) cat "netns/\${2##*/}" ;;
  '-j -6 route') cat ip/route6 ;;
  '-j '*) cat "ip/$2" ;;
  *) exit 1 ;;
esac`,
  nsenter: `cat "$(dirname "\${1#--net=}")/addr"`,
}

export interface Order {
  verb?: 'remove' | 'restore'
  op?: string
  args?: string[]
  which?: 'first' | 'further'
}

/** One node with a store filled by the real plugin, and a runtime that is two lists of ids. */
export class RuleNode {
  readonly root = mkdtempSync(join(tmpdir(), 'cnibot-rule-'))
  private fence = 0

  constructor() {
    for (const folder of ['bin', 'ip', 'netns', 'run/netns', 'var/lib/cni/networks'])
      mkdirSync(this.path(folder), { recursive: true })
    this.write('/proc/sys/kernel/random/boot_id', `${boot}\n`)
    for (const [name, body] of Object.entries(programs)) {
      this.write(`bin/${name}`, program(body))
      chmodSync(this.path(`bin/${name}`), 0o755)
    }
    for (const [name, text] of [
      ['listed', ''],
      ['records', ''],
      ['ip/addr', '[]'],
      ['ip/neigh', '[]'],
      ['ip/route', '[]'],
      ['ip/route6', '[]'],
    ] as const)
      this.write(name, text)
  }

  path(name: string): string {
    return join(this.root, name)
  }
  inStore(name: string): string {
    return join(this.root, store, name)
  }
  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true })
    writeFileSync(this.path(name), text)
  }

  /** Gives out addresses to new sandboxes that the runtime does not know. */
  async leak(count: number): Promise<Entry[]> {
    const ids = Array.from({ length: count }, () => randomBytes(32).toString('hex'))
    const ipam = {
      type: 'host-local',
      dataDir: this.path('/var/lib/cni/networks'),
      ranges: [[{ subnet: '10.244.7.0/24' }]],
    }
    const config = { cniVersion: '1.0.0', name: network, type: 'bridge', ipam }
    const { results, failure } = await ipamAddMany({ folder: pluginFolder(), config }, ids)
    if (failure !== undefined) throw new Error(failure)
    return results.map(({ ips }) => this.entry(ips[0]?.address.split('/')[0] ?? ''))
  }
  /** A leaked address gets its sandbox back: listed, on record, or both. */
  know({ owner }: Entry, ...lists: ('listed' | 'records')[]): void {
    for (const list of lists) writeFileSync(this.path(list), `${owner}\n`, { flag: 'a' })
  }
  /** Living ones beside those a rule is about: without any the runtime's lists are not believed. */
  async live(count = 1): Promise<Entry[]> {
    const living = await this.leak(count)
    for (const one of living) this.know(one, 'listed', 'records')
    return living
  }

  /** The network namespace of a process, which has no name, and what is asked inside it. */
  space(pid: number, addresses: string): void {
    this.write(`proc/${pid}/ns/net:[${pid}]`, '')
    this.write(`proc/${pid}/ns/addr`, addresses)
    symlinkSync(`net:[${pid}]`, this.path(`proc/${pid}/ns/net`))
  }

  entry(ip: string): Entry {
    const content = readFileSync(this.inStore(ip), 'utf8')
    const { ino, size } = statSync(this.inStore(ip))
    return { ip, owner: content.split('\r\n')[0] ?? '', content, inode: ino, size }
  }
  has({ ip, inode }: Entry): boolean {
    return existsSync(this.inStore(ip)) && statSync(this.inStore(ip)).ino === inode
  }
  askedUnderLock(): string {
    return existsSync(this.path('asked-under-lock'))
      ? readFileSync(this.path('asked-under-lock'), 'utf8')
      : ''
  }
  /** Inode of each file in a folder, by name; empty where there is no such folder. */
  inodes(folder: string): Record<string, number> {
    const path = this.path(folder)
    if (!existsSync(path)) return {}
    return Object.fromEntries(readdirSync(path).map(name => [name, statSync(join(path, name)).ino]))
  }

  run(argv: string[], stdin: string): Promise<Ran> {
    const path = `${this.path('bin')}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
    return run(argv, stdin, { CNIBOT_NODE_ROOT: this.root, PATH: path })
  }
  /** Runs the script with an approved list, as the worker would. */
  async order(
    script: string,
    approved: Entry[],
    { verb = 'remove', op = 'run-1', args = [], which = 'further' }: Order = {},
  ) {
    this.fence += 1
    const where = ['--network-dir', store, '--quarantine', quarantineOf(op), '--op', op]
    const what = ['--endpoint', 'unix:///run/containerd/containerd.sock', '--boot-id', boot]
    const argv = ['dash', script, verb, ...where, ...what, ...args]
    const ran = await this.run(argv, encodeOrder(this.fence, encodeRemovalList(approved, which)))
    const report = readRemovalReport(ran.stdout)
    const why = Object.fromEntries(report.skipped.map(each => [each.ip, each.why]))
    return {
      code: ran.code,
      stderr: ran.stderr,
      moved: report.moved.toSorted(),
      already: report.already,
      why,
    }
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
