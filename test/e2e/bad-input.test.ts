import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pLimit from 'p-limit'
import type { LabNode } from '../lab/nodes/index.js'
import { startRedis } from '../lab/redis.js'
import { namespace, placeReplicas } from '../lab/workloads.js'
import type { World } from '../lab/world.js'
import { openWorld } from './lab.js'
import { cnibot, type Ended, without } from './run.js'

interface Case {
  what: string
  /** What is wrong with the node, done before it is asked; answers what the environment of the question adds. */
  wrong: (node: LabNode) => Record<string, string> | void
  /** Each of them is in the output. */
  says: RegExp[]
  /** None of them is: what was not read is no zero. */
  never: RegExp[]
  code?: number
}

const uncounted = [/without a sandbox, /, /no orphans/, /can give new Pods an address/]

const cases: Case[] = [
  {
    what: 'no SSH there',
    wrong: ({ name }) => ({ CNIBOT_SSH_NODE_ADDRESSES: `${name}=127.0.0.1:1` }),
    says: [/^Addresses, Sandboxes, .*: not known: node-01 \(127\.0\.0\.1:1\) refuses connections: is sshd/m],
    never: uncounted,
    code: 1,
  },
  {
    what: 'no crictl',
    // The lab's doubles are the node's programs: without their folder there is no crictl.
    wrong: () => ({ CNIBOT_SSH_PROBE_COMMAND: 'env PATH=/usr/bin:/bin /bin/sh -s --' }),
    says: [/^Sandboxes.*: not known: .*crictl/m, /^ +ls .*wc -l says 5: 2 are bookkeeping/m],
    never: uncounted,
  },
  {
    what: 'a runtime that does not answer',
    wrong: node => node.switches.runtimeDown(true),
    says: [
      /^Addresses: 3 address files; how many of them leaked is not known: .*connect: connection refused/m,
      /^Sandboxes, .*: not known: crictl pods: .*connection refused/m,
      /^The container runtime on node-03 does not answer · likely$/m,
      /^Do not remove any address/m,
    ],
    never: uncounted,
  },
  {
    what: 'a store that cannot be read',
    wrong: node => node.switches.storeUnreadable(true),
    says: [
      /^Addresses, .*: not known: the address files under \/var\/lib\/cni\/networks: .*symbolic links/m,
      /^node-04 could not be measured · unsure$/m,
    ],
    never: uncounted,
  },
  {
    what: 'a conflist that is no JSON',
    wrong: node => node.switches.conflistBroken(true),
    says: [
      /^Network: not known: \/etc\/cni\/net\.d\/10-k8s-pod-network\.conflist: line 1, column \d+ is no JSON; rep/m,
      /^Addresses: 3 taken .*; how many the range can give is not known: /m,
    ],
    never: [/3 of \d+ taken/, /can give new Pods an address/],
  },
  {
    what: 'two conflists',
    wrong: node => node.switches.extraConflist('99-leftover.conflist', 'cbr0'),
    says: [
      /^Addresses: 3 of 253 taken .*\(network k8s-pod-network\)/m,
      /^Network: .*10-k8s-pod-network\.conflist\)\. 1 other file there, not read by the runtime\.$/m,
    ],
    never: [/not known/],
  },
  {
    what: 'an empty allocation file',
    wrong: node => void node.switches.emptyAllocationFile('10.244.7.200'),
    says: [
      /^Addresses: 4 of 253 taken .*: 0 without a sandbox, 3 living, 1 with an owner that is no sandbox id$/m,
    ],
    never: [/not known: (?!whether the disk was full)/],
  },
  {
    what: 'a clock ten minutes ahead',
    wrong: node => node.switches.clockSkew(600_000),
    says: [
      /^Clock: the node's clock is 10 min ahead; ages are counted by the node's own clock$/m,
      /^Addresses: 3 of 253 taken .*: 0 without a sandbox, 3 living$/m,
    ],
    never: [/not known/],
  },
  {
    what: '5 MB of journal',
    wrong: node => {
      const now = node.clock.now()
      node.switches.journalHuge(5 * 1024 * 1024)
      node.logDelFailures({ count: 187, between: [now - 7_200_000, now - 3_600_000] })
    },
    says: [
      /^DEL failures: containerd: 187 lines/m,
      /^ +The journal was read from .* on\./m,
      /can give new Pods an addr/,
    ],
    never: [/not known/],
  },
]

let world: World
const answers = new Map<string, Ended>()
const nameOf = (index: number): string => `node-${String(index + 1).padStart(2, '0')}`

beforeAll(async () => {
  world = await openWorld(cases.map((_, index) => nameOf(index)))
  world.api.store.create('namespaces', namespace('shop'))
  placeReplicas(world.api.store, 'shop', 'web', new Map(cases.map((_, index) => [nameOf(index), 3])))
  await world.settled()
  const limit = pLimit(2)
  await Promise.all(
    cases.map(({ wrong }, index) =>
      limit(async () => {
        const node = world.nodes.node(nameOf(index))
        const env = { ...world.env('cli'), CNIBOT_PEERS: '0', ...wrong(node) }
        answers.set(node.name, await cnibot(['diagnose', node.name], env))
      }),
    ),
  )
}, 600_000)
afterAll(() => world?.stop(), 120_000)

test.each(cases.map((one, index) => ({ ...one, node: nameOf(index) })))(
  'a node with $what: one clear line, and never as zero',
  ({ node, says, never, code = 0 }) => {
    const { stdout, stderr, code: ended } = answers.get(node)!
    for (const words of says) expect(stdout).toMatch(words)
    for (const words of never) expect(stdout).not.toMatch(words)
    expect({ stderr, ended }).toEqual({ stderr: '', ended: code })
  },
)

describe('settings that cannot be used end a process with exit code 2', () => {
  test('bot and worker name everything that is wrong at once, and no secret', async () => {
    const bot = await cnibot(['bot'], {
      CNIBOT_SLACK_BOT_TOKEN: 'not-a-token',
      CNIBOT_STUCK_AFTER: 'soon',
      CNIBOT_APPROVERS: '@approver',
    })
    expect(bot.code).toBe(2)
    expect(
      bot.stderr
        .trim()
        .split('\n')
        .map(line => line.trim()),
    ).toEqual([
      'cnibot: The settings cannot be used:',
      expect.stringMatching(/^CNIBOT_CLUSTER is missing: /),
      expect.stringMatching(/^CNIBOT_REDIS_URL is missing: /),
      expect.stringMatching(/^CNIBOT_SLACK_BOT_TOKEN is set, but must be a token that begins with xoxb-/),
      expect.stringMatching(/^CNIBOT_SLACK_APP_TOKEN is missing: /),
      expect.stringMatching(/^CNIBOT_SLACK_CHANNEL is missing: /),
      expect.stringMatching(/^CNIBOT_APPROVERS is "@approver"; it must be Slack user ids/),
      expect.stringMatching(/^CNIBOT_STUCK_AFTER is "soon"; it must be /),
    ])
    expect(bot.stderr).not.toContain('not-a-token')
    const worker = await cnibot(['worker'], {
      ...without(world.env('worker'), 'CNIBOT_SSH_KNOWN_HOSTS'),
      CNIBOT_SSH_PORT: '99999',
    })
    expect(worker).toMatchObject({ code: 2 })
    expect(worker.stderr).toMatch(/CNIBOT_SSH_KNOWN_HOSTS is missing: /)
    expect(worker.stderr).toMatch(/CNIBOT_SSH_PORT is "99999"; it must be a whole number from 1 to 65535/)
  })

  test('Redis without persistence and with eviction', async () => {
    const redis = await startRedis({ appendonly: false, args: ['--maxmemory-policy', 'allkeys-lru'] })
    try {
      for (const role of ['bot', 'worker'] as const) {
        const ended = await cnibot([role], { ...world.env(role), CNIBOT_REDIS_URL: redis.url })
        expect(ended.code).toBe(2)
        expect(ended.stderr).toMatch(/set "appendonly yes", or histories and approvals are lost/)
        expect(ended.stderr).toMatch(/noeviction/)
      }
    } finally {
      await redis.stop()
    }
  })

  test('a runbook that is broken', async () => {
    writeFileSync(
      join(world.dir, 'mine.yaml'),
      'name: mine\ntitle: Mine\nrisk: huge\nsteps:\n  - kind: reboot\n',
    )
    for (const role of ['bot', 'worker'] as const) {
      const ended = await cnibot([role], { ...world.env(role), CNIBOT_RUNBOOKS_DIR: world.dir })
      expect(ended.code).toBe(2)
      expect(ended.stderr).toMatch(/^cnibot: The runbooks cannot be used:\n/)
      expect(ended.stderr).toMatch(/mine\.yaml.*risk/)
      expect(ended.stderr).toMatch(/mine\.yaml.*reboot/)
    }
  })

  test.each([
    ['CNIBOT_SLACK_BOT_TOKEN', 'xoxb-revoked-token'],
    ['CNIBOT_SLACK_APP_TOKEN', 'xapp-revoked-token'],
  ])('a Slack token that Slack does not take: %s', async (setting, token) => {
    const ended = await cnibot(['bot'], { ...world.env('bot'), [setting]: token })
    expect(ended.code).toBe(2)
    expect(ended.stderr).toMatch(new RegExp(`^cnibot: Slack does not take ${setting}: .*invalid_auth\n$`))
    expect(ended.stdout + ended.stderr).not.toContain(token)
  })
})
