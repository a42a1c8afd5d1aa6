import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Runtime } from '../../../src/core/evidence/bundle.js'
import { readHeld, readLeftovers } from '../../../src/core/evidence/parse/held.js'
import { readOwners, readRecords } from '../../../src/core/evidence/parse/records.js'
import { encodeRemovalList, readRemovalReport } from '../../../src/core/evidence/parse/removal-report.js'
import { readRestarts } from '../../../src/core/evidence/parse/restarts.js'
import { readRuntime, readSandboxes } from '../../../src/core/evidence/parse/sandboxes.js'
import { content, id } from './probe-text.js'

const fixture = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)), 'utf8')
const section = (body: string, code = 0, said = '') => ({ at: 0, body, code, said })

test('P-E4: sandboxes in every state, as the real crictl lists them', () => {
  const answer = readSandboxes(section(fixture('real-cluster/8-full-again-after-reboot/crictl-pods.json')), 1)
  if (!('value' in answer)) throw new Error(answer.reason)
  const states = answer.value.map(({ state }) => state)
  expect([states.length, states.filter(state => state === 'ready').length]).toEqual([118, 58])
  expect(answer.value.every(({ createdAt }) => createdAt !== undefined)).toBe(true)
})
test('P-E4: a sandbox made 272 years ago has no time, and is listed', () => {
  expect(readSandboxes(section(fixture('lab-nodes/unknown-272-years/crictl-pods.json')), 1)).toMatchObject({
    value: [{ createdAt: undefined, state: 'notready' }],
  })
})
test.each([
  ['{ }', { at: 1, value: [] }],
  ['{"items":[]}', { at: 1, value: [] }],
  [
    '',
    { at: 1, reason: 'crictl pods -o json: the answer is no list of sandboxes; run it on the node and look' },
  ],
  [
    '{"items":[{}]}',
    { at: 1, reason: 'crictl pods -o json: the answer is no list of sandboxes; run it on the node and look' },
  ],
])('P-E4: %j', (body, answer) => expect(readSandboxes(section(body), 1)).toEqual(answer))
test('a runtime that is not there, a hanging one and a missing crictl are three clear lines', () => {
  const down = 'time="x" level=error msg="validate service connection: connect: connection refused"'
  expect(readSandboxes(section('', 1, down), 1)).toMatchObject({ reason: `crictl pods: ${down}` })
  expect(readSandboxes(section('', 124), 1)).toMatchObject({
    reason: expect.stringContaining('no answer within the time limit'),
  })
  expect(
    readRuntime(
      section('endpoint unix:///a\nfrom f', 127, 'crictl is not installed on this node'),
      undefined,
      1,
    ),
  ).toMatchObject({
    reason: 'crictl version at unix:///a: crictl is not installed on this node; install it there',
  })
})

const runtime = (name: string, version: string): Runtime => ({
  name,
  version,
  endpoint: 'e',
  endpointFrom: 'f',
  startedAt: undefined,
})
const containers = (code: number, ...ids: string[]): string =>
  ['@ctr -n k8s.io containers ls', ...ids, `!${code}`].join('\n')
const boxes = (code: number, ...ids: string[]): string =>
  [
    '@ctr -n k8s.io sandboxes ls',
    'ID CREATED RUNTIME ',
    ...ids.map(each => `${each} 2026-11-30 io.containerd.runc.v2`),
    `!${code}`,
  ].join('\n')

describe('rule 3: what a runtime wrote down before ADD', () => {
  test.each<[string, string, string[] | RegExp]>([
    ['1.7.24', `${containers(0, id('a'))}\n${boxes(3)}`, [id('a')]],
    ['1.6.9', containers(0, id('a')), [id('a')]],
    ['1.6.8', containers(0, id('a')), /containerd 1\.6\.8 writes nothing down/],
    ['1.5.14', containers(0, id('a')), /writes nothing down/],
    ['1.5.15', containers(0, id('a')), [id('a')]],
    ['2.1.9', `${containers(0, id('a'))}\n${boxes(0, id('b'), id('a'))}`, [id('a'), id('b')]],
    ['2.1.9', `${containers(0, id('a'))}\n${boxes(1)}`, /^ctr -n k8s\.io sandboxes ls: said/],
    ['2.1.9', containers(0, id('a')), /^ctr -n k8s\.io sandboxes ls: said/],
    ['1.7.24', containers(1), /^ctr -n k8s\.io containers ls: said/],
    ['1.7.24', containers(0), /nothing, although the runtime lists 3 sandboxes/],
    ['unknown', containers(0, id('a')), /the version is not understood/],
  ])('containerd %s', (version, body, expected) => {
    const answer = readRecords(section(body, 0, 'said'), runtime('containerd', version), 3, 1)
    if ('value' in answer) expect(answer.value.ids).toEqual(expected)
    else expect(answer.reason).toMatch(expected as RegExp)
  })
  test('CRI-O’s folder and docker’s list', () => {
    const body = `@/var/lib/containers/storage/overlay-containers\n${id('a')}\n!0`
    expect(readRecords(section(body), runtime('cri-o', '1.30.0'), 1, 1)).toMatchObject({
      value: { ids: [id('a')] },
    })
    const failed = `@docker ps -aq\n!1`
    expect(readRecords(section(failed, 0, 'Cannot connect'), runtime('docker', '25'), 1, 1)).toMatchObject({
      reason: 'docker ps -aq: Cannot connect',
    })
  })
})

test('P-E5: a lost owner is told apart from a question that failed', () => {
  const gone = fixture('lab-nodes/crictl-inspectp-dead.txt').split('\n')[1] ?? ''
  expect(
    readOwners(
      section(`10.1.0.2\t${id('a')}\t1\t${gone}\n10.1.0.3\t${id('b')}\t0\t"state": "SANDBOX_READY"`),
      1,
    ),
  ).toMatchObject({
    value: [
      {
        ip: '10.1.0.2',
        known: false,
        said: expect.stringMatching(/^get the status of pod sandboxes: .*not found$/),
      },
      { ip: '10.1.0.3', known: true, said: '"state": "SANDBOX_READY"' },
    ],
  })
  expect(readOwners(section(`10.1.0.2\t${id('a')}\t1\tconnect: connection refused`), 1)).toMatchObject({
    reason: 'crictl inspectp aaaaaaaaaaaaa…: connect: connection refused',
  })
})

test('rule 7: namespaces, confirmed neighbours and routes to one address hold it', () => {
  const body = [
    '@namespace cni-1',
    '[{"ifname":"lo","addr_info":[{"local":"127.0.0.1"}]},{"ifname":"eth0","addr_info":[{"local":"10.1.0.2"},{"local":"fe80::1"}]}]',
    '@neighbour',
    '[{"dst":"10.1.0.3","dev":"cni0","state":["REACHABLE"]},{"dst":"10.1.0.4","dev":"cni0","state":["STALE"]}]',
    '@route',
    '[{"dst":"default","dev":"eth0"},{"dst":"10.1.0.0/24","dev":"cni0"},{"dst":"10.1.0.5","dev":"cali1"},{"dst":"10.1.0.6/32"}]',
    '@host',
    fixture('lab-nodes/node-07-healthy/ip-j-addr.json').trim(),
  ].join('\n')
  const answer = readHeld(section(body), 1)
  if (!('value' in answer)) throw new Error(answer.reason)
  expect(answer.value.filter(({ by }) => by !== 'host').map(({ ip, by }) => `${ip} ${by}`)).toEqual([
    '10.1.0.2 namespace',
    '10.1.0.3 neighbour',
    '10.1.0.5 route',
    '10.1.0.6 route',
  ])
  expect(answer.value).toContainEqual({ ip: '10.244.7.1', by: 'host', where: 'cni0' })
})
test.each([
  [
    '@host\n[{"ifname":"a"}]\n@route\nnot json',
    'ip -j: the answer about route  is not understood; run it on the node',
  ],
  ['', 'ip -j addr: the node answered nothing'],
])('rule 7: what is not understood holds everything: %j', (body, reason) => {
  expect(readHeld(section(body), 1)).toEqual({ at: 1, reason })
})

test('P-A5: veths, nat chains and cached results are counted; what could not be asked is undefined', () => {
  const links = fixture('lab-nodes/node-07-healthy/ip-j-link.json').trim()
  expect(
    readLeftovers(
      section(`@links\n${links}\n@nat\n12\n@results /var/lib/cni/results\n8 1\n@results /x\n2 0`),
      1,
    ),
  ).toEqual({
    at: 1,
    value: { veths: 4, orphanedVeths: 0, natChains: 12, cachedResults: 10, emptyResults: 1 },
  })
  expect(readLeftovers(section(`@links\n${links}\n@nat\n@results /x`), 1)).toMatchObject({
    value: { natChains: undefined, cachedResults: undefined },
  })
})

test('P-E9: restarts from the journal and from systemd are one; older systemd prints dates', () => {
  const body = [
    'containerd ExecMainStartTimestamp=@1500',
    'kubelet ExecMainStartTimestamp=Mon 2026-11-30 15:23:28 UTC',
    'boot -1 0f3c Mon 2026-11-01 10:00:00 UTC—Mon 2026-11-02 10:00:00 UTC',
  ].join('\n')
  expect(
    readRestarts(
      section(body),
      [
        { unit: 'containerd', at: 1_502_000 },
        { unit: 'containerd', at: 900_000 },
      ],
      9_000_000,
      1,
    ),
  ).toEqual({
    at: 1,
    value: {
      runtime: [900_000, 1_500_000],
      kubelet: [Date.parse('2026-11-30T15:23:28Z')],
      boots: [9_000_000, Date.parse('2026-11-01T10:00:00Z')],
    },
  })
  expect(readRestarts(section('', 0, ''), undefined, 1, 1)).toHaveProperty('reason')
})

test('P-A3: the approved list and the report of the node', () => {
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  expect(encodeRemovalList([{ ip: '10.1.0.2', owner: '', content: '', inode: 5, size: 0 }])).toBe(
    `10.1.0.2\t5\t0\t-\t${empty}\n`,
  )
  expect(
    encodeRemovalList([{ ip: 'fd00::a', owner: id('a'), content: content(id('a')), inode: 6, size: 70 }]),
  ).toMatch(/^fd00::a\t6\t70\ta{64}\t[0-9a-f]{64}\n$/)
  const lines = [
    'a login banner',
    '{"file":"10.1.0.2","result":"moved"}',
    '{"file":"10.1.0.3","result":"already"}',
    '{"file":"10.1.0.4","result":"skipped","why":"gone"}',
  ]
  expect(readRemovalReport(lines.join('\n'))).toMatchObject({
    moved: ['10.1.0.2'],
    already: ['10.1.0.3'],
    complete: false,
    quarantine: '',
  })
  lines.push(
    '{"done":true,"verb":"remove","underLockMs":20,"quarantine":"/q","sandboxes":44,"records":"containers"}',
  )
  expect(readRemovalReport(lines.join('\n'))).toEqual({
    moved: ['10.1.0.2'],
    already: ['10.1.0.3'],
    skipped: [{ ip: '10.1.0.4', why: 'gone' }],
    underLockMs: 20,
    quarantine: '/q',
    complete: true,
    sandboxes: 44,
    records: 'containers',
  })
})
