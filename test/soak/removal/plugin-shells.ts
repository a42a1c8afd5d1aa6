import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { pluginFolder } from '../../lab/nodes/host-local.js'

/** Starts the plugin for each `VERB id` on its input: a process from Node costs many times as much. */
const loop = `while read -r verb id; do
  CNI_COMMAND=$verb CNI_CONTAINERID=$id CNI_NETNS=/var/run/netns/x CNI_IFNAME=eth0 "$PLUGIN" <"$CONFIG"
  printf '\\036%s\\n' "$?"
done`

/** Stands before the exit code; the plugin prints none. */
const endMark = '\u001e'

interface Shell {
  child: ChildProcess
  waiting: ((text: string) => void)[]
  text: string
}

export type Added = { ip: string } | { full: true }

/** The real host-local plugin in several processes at once, against one store. */
export class PluginShells {
  private readonly shells: Shell[]
  private open = 0
  private readonly idlers: (() => void)[] = []
  /** Longest ADD or DEL so far, in milliseconds, what waited in line here left out. */
  longestMs = 0

  /** `config` is a file with the network's configuration. */
  constructor(config: string, count: number) {
    const folder = pluginFolder()
    const env = {
      PLUGIN: join(folder, 'host-local'),
      CONFIG: config,
      CNI_PATH: folder,
      PATH: '/usr/bin:/bin',
    }
    this.shells = Array.from({ length: count }, () => this.startShell(env))
  }

  async add(id: string): Promise<Added> {
    const text = await this.call('ADD', id)
    const said = JSON.parse(text.slice(0, text.indexOf(endMark))) as {
      ips?: { address: string }[]
      msg?: string
    }
    const ip = said.ips?.[0]?.address.split('/')[0]
    if (ip !== undefined) return { ip }
    if (said.msg?.includes('no IP addresses available') === true) return { full: true }
    throw new Error(`host-local ADD: ${said.msg ?? text}`)
  }

  async del(id: string): Promise<void> {
    const text = await this.call('DEL', id)
    if (!text.endsWith(`${endMark}0`)) throw new Error(`host-local DEL: ${text}`)
  }

  /** When nothing is under way. */
  idle(): Promise<void> {
    return this.open === 0 ? Promise.resolve() : new Promise(resolve => this.idlers.push(resolve))
  }

  close(): void {
    for (const { child } of this.shells) child.stdin?.end()
  }

  private startShell(env: Record<string, string>): Shell {
    const child = spawn('/bin/sh', ['-c', loop], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    const shell: Shell = { child, waiting: [], text: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shell.text += text
      for (;;) {
        const mark = shell.text.indexOf(endMark)
        const end = mark < 0 ? -1 : shell.text.indexOf('\n', mark)
        if (end < 0) return
        const one = shell.text.slice(0, end)
        shell.text = shell.text.slice(end + 1)
        shell.waiting.shift()?.(one)
      }
    })
    return shell
  }

  private call(verb: 'ADD' | 'DEL', id: string): Promise<string> {
    const shell = this.shells.reduce((best, each) =>
      each.waiting.length < best.waiting.length ? each : best,
    )
    this.open += 1
    const alone = shell.waiting.length === 0
    const began = performance.now()
    return new Promise(resolve => {
      shell.waiting.push(text => {
        if (alone) this.longestMs = Math.max(this.longestMs, performance.now() - began)
        this.open -= 1
        resolve(text)
        if (this.open === 0) for (const idler of this.idlers.splice(0)) idler()
      })
      shell.child.stdin?.write(`${verb} ${id}\n`)
    })
  }
}
