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

interface IpamResult {
  ips: { address: string; gateway?: string }[]
}

const call = (verb: 'ADD' | 'DEL', { folder, containerId, config }: IpamCall): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(join(folder, 'host-local'), [], {
      env: {
        CNI_COMMAND: verb,
        CNI_CONTAINERID: containerId,
        CNI_NETNS: `/var/run/netns/${containerId.slice(0, 12)}`,
        CNI_IFNAME: 'eth0',
        CNI_PATH: folder,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve(out)
      else reject(new Error(pluginMessage(out) ?? (err.trim() || `exit status ${code}`)))
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(JSON.stringify(config))
  })

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
