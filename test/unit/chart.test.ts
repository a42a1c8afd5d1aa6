import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { readSettings } from '../../src/config.js'
import { settings } from '../../src/settings/list.js'
import type { Setting } from '../../src/settings/value.js'
import { helmPath } from '../lab/kubectl.js'

const root = join(import.meta.dirname, '../..')
const chart = join(root, 'helm')
const run = promisify(execFile)

type Values = Record<string, string | number | boolean>
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as {
  settings: Values
  bot: { settings: Values }
  worker: { settings: Values }
}
const required = {
  'settings.cluster': 'prod-eu1',
  'bot.settings.slackChannel': 'C024BE91L',
  'worker.settings.sshReadUser': 'cnibot-read',
  'worker.settings.sshRepairUser': 'cnibot-repair',
}
const flags = (more: Record<string, string> = {}) =>
  Object.entries({ ...required, ...more }).flatMap(([name, value]) => ['--set-string', `${name}=${value}`])

interface Manifest {
  kind: string
  metadata: { name: string; namespace?: string }
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
  spec?: { template: { spec: PodSpec } }
  data?: Record<string, string>
}
interface PodSpec {
  serviceAccountName: string
  securityContext: Record<string, unknown>
  volumes?: { name: string }[]
  containers: {
    args: string[]
    securityContext: Record<string, unknown>
    env: {
      name: string
      value?: string
      valueFrom?: { secretKeyRef?: { name: string; key: string }; fieldRef?: { fieldPath: string } }
    }[]
    ports: { containerPort: number }[]
  }[]
}

const rendered = async (...more: string[]): Promise<Manifest[]> => {
  const { stdout } = await run(await helmPath(), ['template', 'cni', chart, '-n', 'ops', ...flags(), ...more])
  return parseAllDocuments(stdout).map(document => document.toJS() as Manifest)
}
const podOf = (manifests: Manifest[], role: string): PodSpec => {
  const found = manifests.find(one => one.kind === 'Deployment' && one.metadata.name === `cni-${role}`)
  if (!found?.spec) throw new Error(`the chart makes no Deployment cni-${role}`)
  return found.spec.template.spec
}

/** Settings that a cluster does not set by value, and why. */
const notValues: Record<string, string> = {
  redisUrl: 'secret',
  slackBotToken: 'secret',
  slackAppToken: 'secret',
  sshReadKeyFile: 'mounted secret',
  sshRepairKeyFile: 'mounted secret',
  sshKnownHosts: 'mounted secret',
  runbooksDir: 'mounted from the value runbooks',
  kubeconfig: 'the Pod has a service account',
  kubeContext: 'the Pod has a service account',
  httpHost: 'probes come from outside the Pod',
  clockFile: 'practice runs only',
  podNamespace: 'told by Kubernetes',
  podName: 'told by Kubernetes',
}

describe('the chart', () => {
  it('passes helm lint --strict', async () => {
    const { stdout } = await run(await helmPath(), ['lint', '--strict', chart, ...flags()])
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed')
  })

  it('has a value for each setting of each process, with the same default, and no value that is no setting', () => {
    const groupOf = (one: Setting): Values => {
      const roles = one.roles.filter(role => role === 'bot' || role === 'worker')
      if (roles.length === 2) return values.settings
      return roles[0] === 'bot' ? values.bot.settings : values.worker.settings
    }
    const expected: Record<string, Values> = { settings: {}, bot: {}, worker: {} }
    for (const [name, one] of Object.entries<Setting>(settings)) {
      if (name in notValues) continue
      const group = groupOf(one)
      const key = group === values.settings ? 'settings' : group === values.bot.settings ? 'bot' : 'worker'
      expected[key] = { ...expected[key], [name]: one.default ?? '' }
    }
    const written = (group: Values): Values =>
      Object.fromEntries(Object.entries(group).map(([name, value]) => [name, String(value)]))
    expect(written(values.settings)).toEqual(expected.settings)
    expect(written(values.bot.settings)).toEqual(expected.bot)
    expect(written(values.worker.settings)).toEqual(expected.worker)
  })

  it('starts each process with settings that it can use', async () => {
    const manifests = await rendered()
    for (const role of ['bot', 'worker'] as const) {
      const [container] = podOf(manifests, role).containers
      const secrets: Record<string, string> = {
        url: 'redis://redis:6379',
        'bot-token': 'xoxb-1',
        'app-token': 'xapp-1',
      }
      const fields: Record<string, string> = { 'metadata.namespace': 'ops', 'metadata.name': `cni-${role}-0` }
      const env = (container?.env ?? []).map(({ name, value, valueFrom }) => [
        name,
        value ?? secrets[valueFrom?.secretKeyRef?.key ?? ''] ?? fields[valueFrom?.fieldRef?.fieldPath ?? ''],
      ])
      expect(() => readSettings(Object.fromEntries(env), role)).not.toThrow()
      expect(container?.args).toEqual([role])
      expect(container?.ports).toMatchObject([{ containerPort: 8080 }])
    }
  })

  it('gives the worker no Slack token and the bot no key, and holds no secret itself', async () => {
    const manifests = await rendered()
    const names = (role: string) => podOf(manifests, role).containers[0]?.env.map(one => one.name) ?? []
    expect(names('worker').filter(name => name.includes('SLACK'))).toEqual([])
    expect(names('bot').filter(name => name.includes('SSH'))).toEqual([])
    expect(podOf(manifests, 'bot').volumes).toBeUndefined()
    expect(manifests.some(one => one.kind === 'Secret')).toBe(false)
  })

  it('runs as an ordinary user on a read-only root', async () => {
    const manifests = await rendered()
    for (const role of ['bot', 'worker']) {
      const pod = podOf(manifests, role)
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(pod.containers[0]?.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  it('allows the bot to read only, and the worker to cordon, to evict and to make Pods in one namespace', async () => {
    const manifests = await rendered()
    const allowed = (kind: string, name: string) =>
      (manifests.find(one => one.kind === kind && one.metadata.name === name)?.rules ?? []).flatMap(rule =>
        rule.resources.flatMap(resource => rule.verbs.map(verb => `${verb} ${resource}`)),
      )
    const reading =
      /^(get|list|watch) (nodes|pods|events|daemonsets|replicasets|jobs|poddisruptionbudgets|endpointslices)$/
    expect(allowed('ClusterRole', 'ops-cni-bot').filter(one => !reading.test(one))).toEqual([])
    expect(allowed('ClusterRole', 'ops-cni-bot')).toContain('watch pods')
    expect(allowed('ClusterRole', 'ops-cni-worker').filter(one => !reading.test(one))).toEqual([
      'patch nodes',
      'create pods/eviction',
    ])
    expect(allowed('Role', 'cni-worker-test-pods')).toEqual(['create pods', 'get pods', 'delete pods'])
  })

  it.each([
    ['a missing cluster name', ['--set-string', 'settings.cluster=']],
    ['a misspelt setting', ['--set', 'bot.settings.aprovers=U1']],
    ['a duration in words', ['--set', 'bot.settings.stuckAfter=5 minutes']],
  ])('refuses %s before anything is installed', async (_what, more) => {
    await expect(rendered(...more)).rejects.toThrow(/values don't meet the specifications of the schema/)
  })

  it('mounts runbooks that are given as values', async () => {
    const manifests = await rendered('--set-string', 'runbooks.ours\\.yaml=name: ours')
    const map = manifests.find(one => one.kind === 'ConfigMap')
    expect(map?.data).toEqual({ 'ours.yaml': 'name: ours\n' })
    expect(podOf(manifests, 'bot').volumes).toMatchObject([{ name: 'runbooks' }])
  })
})

describe('the Slack app manifest', () => {
  const manifest = parse(readFileSync(join(chart, 'slack-manifest.yaml'), 'utf8'))
  const slack = join(root, 'src/adapters/slack')
  // The receiver's client is the WebSocket's, which calls no method.
  const code = readdirSync(slack)
    .filter(name => name !== 'receiver.ts')
    .map(name => readFileSync(join(slack, name), 'utf8'))
  /** What Slack asks for each method of its Web API; from its reference of methods. */
  const scopesOf: Record<string, string[]> = {
    'auth.test': [],
    'chat.delete': ['chat:write'],
    'chat.getPermalink': [],
    'chat.postEphemeral': ['chat:write'],
    'chat.postMessage': ['chat:write'],
    'chat.update': ['chat:write'],
    'conversations.history': ['channels:history', 'groups:history'],
    'conversations.replies': ['channels:history', 'groups:history'],
    filesUploadV2: ['files:write'],
    'usergroups.users.list': ['usergroups:read'],
    'views.open': [],
  }

  it('asks for exactly the scopes of the methods the bot calls', () => {
    const called = code.flatMap(text =>
      [...text.matchAll(/\bclient\.(\w+(?:\.\w+)*)\(/g)].map(match => match[1] ?? ''),
    )
    const methods = called.filter(name => name.includes('.') || name === 'filesUploadV2')
    expect(methods.filter(method => !(method in scopesOf))).toEqual([])
    const reads = code.some(text => text.includes('include_all_metadata')) ? ['metadata.message:read'] : []
    const needed = ['commands', ...reads, ...methods.flatMap(method => scopesOf[method] ?? [])]
    expect(manifest.oauth_config.scopes.bot).toEqual([...new Set(needed)].sort())
  })

  it('subscribes to no event that nobody hears, over Socket Mode', () => {
    const heard = code.flatMap(text => [...text.matchAll(/\bapp\.(?:event|message)\(/g)])
    expect(heard).toEqual([])
    expect(manifest.settings).not.toHaveProperty('event_subscriptions')
    expect(manifest.settings).toMatchObject({
      socket_mode_enabled: true,
      interactivity: { is_enabled: true },
    })
    expect(manifest.features.slash_commands).toMatchObject([{ command: '/cni' }])
    expect(manifest.features.app_home).toMatchObject({
      home_tab_enabled: true,
      messages_tab_read_only_enabled: true,
    })
  })
})

describe('the image', () => {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n')
  const instructions = lines.filter(line => /^[A-Z]+ /.test(line)).map(line => line.split(' '))
  const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'))

  it('runs as a numbered user that is not root, without npm as its first process', () => {
    expect(last.find(([name]) => name === 'USER')?.[1]).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    const entry =
      last
        .find(([name]) => name === 'ENTRYPOINT')
        ?.slice(1)
        .join(' ') ?? ''
    expect(JSON.parse(entry)).toEqual(['node', '--enable-source-maps', '/app/dist/cli.js'])
  })

  it('is built of files that exist, and none of the lab or the tests', () => {
    const copied = instructions
      .filter(([name, from]) => name === 'COPY' && !from?.startsWith('--from'))
      .flatMap(words => words.slice(1, -1))
    expect(copied.filter(path => !existsSync(join(root, path)))).toEqual([])
    expect(copied.filter(path => /^(test|docs|\.)$|^test\//.test(path))).toEqual([])
    const kept = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    expect(kept).toContain('*')
    for (const path of copied) expect(kept).toContain(`!${path.replace(/\/$/, '')}`)
  })

  it('uses a Node that package.json allows, the same in every stage', () => {
    const bases = new Set(instructions.filter(([name]) => name === 'FROM').map(([, image]) => image))
    expect([...bases]).toEqual([expect.stringMatching(/^node:(22|24)-[a-z]+-slim$/)])
  })
})
