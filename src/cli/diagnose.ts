import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createRunbooks } from '../adapters/files/runbooks.js'
import { createCluster } from '../adapters/kubernetes/cluster.js'
import { connectKube } from '../adapters/kubernetes/connect.js'
import { createNodeShell } from '../adapters/ssh/node-shell.js'
import { clockFrom } from '../adapters/system/clock.js'
import { type Environment, environment, readSettings } from '../config.js'
import { diagnose } from '../core/diagnosis/diagnose.js'
import { Refused } from '../ports.js'
import { gather } from '../steps/gather.js'
import { probeLimits, sshSettingsOf } from '../ssh-settings.js'
import { nearest } from '../view/nearest.js'
import { renderTerminal } from '../view/terminal.js'

type Options = Record<string, string | boolean>

/** Flags win over the environment, the environment over what a person at a terminal has anyway. */
const environmentOf = (options: Options): Environment => {
  const env = environment()
  const text = (value: string | boolean | undefined): string | undefined =>
    typeof value === 'string' ? value : undefined
  const ssh = join(homedir(), '.ssh')
  const wanted: Environment = {
    CNIBOT_CLUSTER: text(options.cluster) ?? env.CNIBOT_CLUSTER ?? text(options.context) ?? 'cluster',
    CNIBOT_KUBECONFIG:
      text(options.kubeconfig) ?? env.CNIBOT_KUBECONFIG ?? env.KUBECONFIG ?? join(homedir(), '.kube/config'),
    CNIBOT_KUBE_CONTEXT: text(options.context) ?? env.CNIBOT_KUBE_CONTEXT,
    CNIBOT_SSH_READ_USER: text(options.sshUser) ?? env.CNIBOT_SSH_READ_USER ?? userInfo().username,
    CNIBOT_SSH_READ_KEY_FILE: text(options.sshKey) ?? env.CNIBOT_SSH_READ_KEY_FILE ?? join(ssh, 'id_ed25519'),
    CNIBOT_SSH_KNOWN_HOSTS:
      text(options.knownHosts) ?? env.CNIBOT_SSH_KNOWN_HOSTS ?? join(ssh, 'known_hosts'),
  }
  return { ...env, ...wanted }
}

/**
 * One node, read only, at a terminal: the same evidence and verdict as in a thread. Exit code 1 when the node itself
 * could not be reached: what the API knows is printed all the same.
 */
export const diagnoseNode = async (node: string, options: Options): Promise<void> => {
  const settings = readSettings(environmentOf(options), 'cli')
  const clock = clockFrom(settings.clockFile)
  const kube = connectKube({ kubeconfig: settings.kubeconfig, context: settings.kubeContext })
  const shell = createNodeShell(sshSettingsOf(settings))
  try {
    const cluster = createCluster(kube, clock)
    if (!(await cluster.node(node))) {
      const names = (await cluster.nodes()).map(n => n.name)
      const meant = nearest(node, names)
      throw new Refused(
        `no node ${node} in this cluster${meant ? `; did you mean ${meant}?` : '.'} It has ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`,
      )
    }
    const bundle = await gather(
      {
        clusterName: settings.cluster,
        cluster,
        shell,
        clock,
        settings: { peers: settings.peers, ...probeLimits },
      },
      node,
      'full',
    )
    const verdict = diagnose(bundle, await createRunbooks(settings.runbooksDir).list())
    const text = options.json
      ? `${JSON.stringify({ bundle, verdict }, null, 2)}\n`
      : renderTerminal(bundle, verdict, {
          colour: process.stdout.isTTY === true,
          timeZone: settings.timeZone,
        })
    await new Promise<void>(resolve => process.stdout.write(text, () => resolve()))
    if (bundle.shown === undefined) process.exitCode = 1
  } finally {
    await shell.close()
    await kube.close()
  }
}
