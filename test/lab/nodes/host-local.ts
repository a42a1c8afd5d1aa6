import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Where distributions and installers put the plugins. */
const folders = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni']

/** The folder that holds `host-local`; throws with the package to install. */
export const pluginFolder = (candidates = folders): string => {
  for (const folder of candidates) {
    try {
      accessSync(join(folder, 'host-local'), constants.X_OK)
      return folder
    } catch {
      // Not there: the next folder.
    }
  }
  throw new Error(
    `The lab hands out addresses with the real host-local plugin, which is in none of ${candidates.join(', ')}. Install it: apt-get install containernetworking-plugins`,
  )
}

export interface IpamCall {
  folder: string
  containerId: string
  /** The configuration for the plugin's standard input. */
  config: unknown
}

export interface IpamResult {
  ips: { address: string; gateway?: string }[]
}

/** One shell starts the plugin for each id on its input: starting a process from Node costs many times as much. */
const manyAdds = `while read -r id; do
  printf %s "$CONFIG" | CNI_CONTAINERID=$id "$PLUGIN" || exit 1
  printf '\\036'
done`

const environment = (verb: 'ADD' | 'DEL', folder: string, containerId: string) => ({
  CNI_COMMAND: verb,
  CNI_CONTAINERID: containerId,
  CNI_NETNS: `/var/run/netns/${containerId.slice(0, 12)}`,
  CNI_IFNAME: 'eth0',
  CNI_PATH: folder,
})

/** Runs `program` to its end. */
const run = (program: string, args: string[], env: Record<string, string>, input: string): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, out, err }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })

interface Ended {
  code: number | null
  out: string
  err: string
}

const call = async (verb: 'ADD' | 'DEL', { folder, containerId, config }: IpamCall): Promise<string> => {
  const env = environment(verb, folder, containerId)
  const { code, out, err } = await run(join(folder, 'host-local'), [], env, JSON.stringify(config))
  if (code === 0) return out
  throw new Error(pluginMessage(out) ?? (err.trim() || `exit status ${code}`))
}

/** A failing plugin prints `{"code":…,"msg":…}`. */
const pluginMessage = (out: string): string | undefined => {
  try {
    const { msg } = JSON.parse(out) as { msg?: string }
    return msg
  } catch {
    return undefined
  }
}

/** Runs ADD; rejects with the plugin's own words. */
export const ipamAdd = async (request: IpamCall): Promise<IpamResult> =>
  JSON.parse(await call('ADD', request)) as IpamResult

export const ipamDel = async (request: IpamCall): Promise<void> => {
  await call('DEL', request)
}

/** An ADD for each id, in order. `failure` is the plugin's message when it stopped before the last. */
export const ipamAddMany = async (
  { folder, config }: Omit<IpamCall, 'containerId'>,
  ids: string[],
): Promise<{ results: IpamResult[]; failure?: string }> => {
  const env = {
    ...environment('ADD', folder, ''),
    PLUGIN: join(folder, 'host-local'),
    CONFIG: JSON.stringify(config),
  }
  const { code, out, err } = await run('/bin/sh', ['-c', manyAdds], env, ids.map(id => `${id}\n`).join(''))
  const parts = out.split('\u001e')
  const last = parts.pop() ?? ''
  const results = parts.map(part => JSON.parse(part) as IpamResult)
  return code === 0 ? { results } : { results, failure: pluginMessage(last) ?? err.trim() }
}
