import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadCapture } from '../../lab/nodes/capture.js'
import type { LabNode } from '../../lab/nodes/index.js'
import { pod, startTestLab, type TestLab } from './ssh.js'

let lab: TestLab
let captured: LabNode
let made: LabNode
const fixtures = 'test/fixtures/lab-nodes'
const real = (name: string) => readFileSync(`${fixtures}/${name}`, 'utf8')

beforeAll(async () => {
  lab = await startTestLab(['node-07', 'node-08'], {
    runtimeVersion: name => (name === 'node-07' ? '1.7.24' : '2.1.9'),
  })
  captured = lab.nodes.node('node-07')
  made = lab.nodes.node('node-08')
  // The clock stands still: the table's ages are those of the captured moment.
  lab.clock.setRate(0)
  lab.clock.jumpTo(Date.parse('2026-11-30T15:17:40Z'))
  loadCapture(captured, `${fixtures}/node-07-healthy`)
})
afterAll(() => lab.close())

const keys = (json: string) => {
  const entries = JSON.parse(json) as Record<string, unknown>[]
  return [...new Set(entries.flatMap(entry => Object.keys(entry)))].toSorted()
}

describe('crictl over a captured node prints what the real one printed', () => {
  test('as a table, as ids and as JSON', async () => {
    expect(await lab.run('node-07', 'crictl pods')).toBe(real('node-07-healthy/crictl-pods.txt'))
    expect(await lab.run('node-07', 'crictl pods -q')).toBe(real('node-07-healthy/crictl-pods-q.txt'))
    const json = await lab.run(
      'node-07',
      'crictl -r unix:///run/containerd/containerd.sock -t 10s pods -o json',
    )
    expect(JSON.parse(json)).toEqual(JSON.parse(real('node-07-healthy/crictl-pods.json')))
    expect(await lab.run('node-07', 'crictl pods --state Ready -q | wc -l')).toBe('5\n')
  })

  test('with NotReady sandboxes, long names and ages', async () => {
    lab.clock.jumpTo(1796052137_950)
    loadCapture(captured, `${fixtures}/crictl-rows`)
    expect(await lab.run('node-07', 'crictl pods')).toBe(real('crictl-rows/crictl-pods.txt'))
    const counts = 'crictl pods --state Ready -q | wc -l; crictl pods --state NotReady -q | wc -l'
    expect(await lab.run('node-07', counts)).toBe('4\n10\n')
    loadCapture(captured, `${fixtures}/node-07-healthy`)
  })

  test('with a sandbox made 272 years ago', async () => {
    loadCapture(captured, `${fixtures}/unknown-272-years`)
    expect(await lab.run('node-07', 'crictl pods')).toBe(real('unknown-272-years/crictl-pods.txt'))
    const json = JSON.parse(await lab.run('node-07', 'crictl pods -o json'))
    expect(json.items[0].createdAt).toBe('-6795364578871345152')
    const shown = JSON.parse(await lab.run('node-07', 'crictl inspectp 957a03f449753'))
    expect(shown.status.createdAt).toMatch(/^1754-08-30T22:43:41\.128/)
    loadCapture(captured, `${fixtures}/node-07-healthy`)
  })

  test('for ids that the runtime does not know, with its exit status (P-E5)', async () => {
    // Its owner was alive in the healthy capture and is gone in this one.
    loadCapture(captured, `${fixtures}/crictl-rows`)
    for (const name of [
      'crictl-inspectp-dead',
      'crictl-inspectp-bogus',
      'crictl-pods-id-dead',
      'crictl-inspect-dead',
    ]) {
      const [command = '', ...rest] = real(`${name}.txt`).trimEnd().split('\n')
      const status = Number(rest.at(-1)?.replace('exit status ', ''))
      const out = await lab.output('node-07', command.replace(/^\$ /, ''))
      const withoutTime = (text: string) => text.replace(/time="[^"]*"/, 'time=""').trimEnd()
      // The real `inspect` also logs its own line (E1130 …) before.
      const said = rest.slice(0, -1).filter(line => !/^E\d{4} /.test(line))
      expect({ name, code: out.code }).toEqual({ name, code: status })
      expect(withoutTime(out.stdout + out.stderr)).toBe(withoutTime(said.join('\n')))
    }
    loadCapture(captured, `${fixtures}/node-07-healthy`)
  })

  test('`inspect` does not find a living sandbox: it knows containers only (P-E5)', async () => {
    const [sandbox] = captured.sandboxes()
    expect((await lab.output('node-07', `crictl inspect ${sandbox?.id}`)).code).toBe(1)
    expect((await lab.output('node-07', `crictl inspect ${sandbox?.containerId}`)).code).toBe(0)
    const shown = JSON.parse(await lab.run('node-07', `crictl inspectp -o json ${sandbox?.id}`))
    const reference = JSON.parse(real('inspectp-live-status.json'))
    expect(Object.keys(shown.status).toSorted()).toEqual(Object.keys(reference.status).toSorted())
    expect(shown.status.linux).toEqual(reference.status.linux)
  })
})

describe('the node as the kernel shows it', () => {
  test('captured links, routes, neighbours and nat rules come back unchanged', async () => {
    const same = async (command: string, file: string) =>
      expect(await lab.run('node-07', command)).toBe(real(`node-07-healthy/${file}`))
    loadCapture(captured, `${fixtures}/node-07-healthy`)
    await same('ip -j addr', 'ip-j-addr.json')
    await same('ip -d -j link', 'ip-j-link.json')
    await same('ip -j route', 'ip-j-route.json')
    await same('ip -j neigh', 'ip-j-neigh.json')
    await same('bridge -j link', 'bridge-j-link.json')
    await same('iptables -t nat -S', 'iptables-t-nat-S.txt')
  })

  test('what the lab makes up has the fields of the real output', async () => {
    const sandbox = await made.add(pod('api-1'))
    const fields = async (command: string, file: string) =>
      expect(keys(await lab.run('node-08', command))).toEqual(keys(real(`node-07-healthy/${file}`)))
    await fields('ip -j addr', 'ip-j-addr.json')
    await fields('ip -j link', 'ip-j-link.json')
    await fields('ip -j route', 'ip-j-route.json')
    await fields('ip -j neigh', 'ip-j-neigh.json')
    await fields('bridge -j link', 'bridge-j-link.json')
    const rules = await lab.run(
      'node-08',
      'iptables -t nat -S | grep -c ^-N; iptables-save -t nat | grep -c ^:CNI-',
    )
    expect(rules).toBe('2\n1\n')
    const inside = JSON.parse(await lab.run('node-08', `ip -n ${sandbox.network?.netns} -j addr`))
    expect(inside[1].addr_info[0].local).toBe(sandbox.network?.address)
    await made.remove(sandbox.id)
    const gone = await lab.output('node-08', `ip -n ${sandbox.network?.netns} -j addr`)
    expect(gone.code).toBe(1)
    expect(gone.stderr).toBe(
      `Cannot open network namespace "${sandbox.network?.netns}": No such file or directory\n`,
    )
  })
})

describe('ctr', () => {
  test('1.7 has the record of a starting sandbox among the containers, 2.x among the sandboxes', async () => {
    const [release7, release8] = [captured.holdListing(), made.holdListing()]
    const pending = [captured.add(pod('slow')), made.add(pod('slow'))]
    const owner = async (node: LabNode) => {
      const deadline = Date.now() + 10_000
      for (;;) {
        const found = node.sandboxes().find(sandbox => sandbox.pod.name === 'slow')
        if (found !== undefined) return found.id
        if (Date.now() > deadline) throw new Error('no sandbox within 10 s')
        await new Promise(resolve => setImmediate(resolve))
      }
    }
    const [first, second] = [await owner(captured), await owner(made)]
    expect(await lab.run('node-07', 'ctr -n k8s.io containers ls -q')).toContain(first)
    expect(await lab.run('node-07', 'ctr -n k8s.io sandboxes ls')).toBe('ID CREATED RUNTIME \n')
    expect(await lab.run('node-08', 'ctr -n k8s.io containers ls -q')).not.toContain(second)
    expect(await lab.run('node-08', 'ctr -n k8s.io sandboxes ls')).toContain(second)
    expect(await lab.run('node-08', 'ctr containers ls -q')).toBe('')
    release7()
    release8()
    await Promise.all(pending)
  })

  test('has no short form of the sandbox list, as the real one', async () => {
    const out = await lab.output('node-08', 'ctr -n k8s.io sandboxes ls -q')
    expect(out).toMatchObject({ code: 1, stdout: 'Incorrect Usage: flag provided but not defined: -q\n' })
  })
})

describe('journal, units and time', () => {
  test('journal lines have the fields and the wordings of real ones (P-E7)', async () => {
    made.switches.setConflist(JSON.stringify({ cniVersion: '1.0.0', name: 'k8s-pod-network', plugins: tiny }))
    await made.add(pod('takes-the-last'))
    await made.add(pod('stuck')).catch(() => undefined)
    const [line = ''] = (
      await lab.run('node-08', 'journalctl -q -u containerd -o json -n 1 --no-pager')
    ).split('\n')
    const sample = JSON.parse(real('journal-o-json.ndjson').split('\n')[0] ?? '')
    const ours = JSON.parse(line)
    expect(Object.keys(ours).toSorted()).toEqual(Object.keys(sample).toSorted())
    const anonymous = (text: string) =>
      text
        .replace(/time="[^"]*"/, '')
        .replace(/[0-9a-f]{64}/g, 'ID')
        .replace(/Name:[^}]*}/, '')
        .replace(/10\.244\.\d+\.\d+-10\.244\.\d+\.\d+/, 'RANGE')
    expect(anonymous(ours.MESSAGE)).toBe(anonymous(sample.MESSAGE))
  })

  test('times, units and patterns select, and every form of output is the real one', async () => {
    const t0 = Date.parse('2026-12-01T00:00:00Z') / 1000
    made.journal.write('kubelet', t0 * 1000, 'says "hello"\tand \\ more')
    made.journal.write('containerd', t0 * 1000 - 500, 'earlier')
    const at = `--since @${t0 - 1} --until @${t0 + 1}`
    const show = (more: string) => lab.run('node-08', `journalctl --no-pager ${at} ${more}`)
    expect(await show('-u kubelet -o cat')).toBe('says "hello"\tand \\ more\n')
    expect(await show('-u kubelet -u containerd -o cat')).toBe('earlier\nsays "hello"\tand \\ more\n')
    expect(await show('-u kubelet -u containerd -r -o cat -n 1')).toBe('says "hello"\tand \\ more\n')
    const pid = made.journal.pid('kubelet')
    const rest = `node-08 kubelet[${pid}]: says "hello"\tand \\ more\n`
    expect(await show('-u kubelet -o short-unix')).toBe(`${t0}.000000 ${rest}`)
    expect(await show('-u kubelet -o short-iso')).toBe(`2026-12-01T00:00:00+0000 ${rest}`)
    expect(await show('-u kubelet')).toBe(`Dec 01 00:00:00 ${rest}`)
    expect(await show('-u kubelet -g HELLO -o cat')).toBe('-- No entries --\n')
    expect(await show('-u kubelet -g hello -o cat')).toContain('hello')
    expect(await show('-u nosuch -q')).toBe('')
    const days = await lab.run('node-08', "journalctl -u containerd -o cat -q --since '15 days ago' | wc -l")
    expect(Number(days)).toBeGreaterThan(2)
    expect((await lab.output('node-08', 'journalctl --flow')).code).toBe(1)
  })

  test('units show when they started; a crash counts as a restart (P-E9)', async () => {
    const show = 'systemctl show containerd -p ActiveEnterTimestamp -p NRestarts --timestamp=unix'
    made.restartRuntime({ crash: true })
    const start = Math.floor(lab.clock.now() / 1000) + 1
    expect(await lab.run('node-08', show)).toBe(`NRestarts=1\nActiveEnterTimestamp=@${start}\n`)
    expect(await lab.run('node-08', 'systemctl show kubelet -p ActiveEnterTimestamp')).toMatch(
      /^ActiveEnterTimestamp=[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n$/,
    )
    expect(await lab.run('node-08', 'systemctl show crio -p LoadState')).toBe('LoadState=not-found\n')
    expect(await lab.output('node-08', 'systemctl is-active crio')).toMatchObject({
      code: 3,
      stdout: 'inactive\n',
    })
    const journal = await lab.run('node-08', 'journalctl -u containerd -o cat -q | tail -n 4')
    expect(journal).toContain('Started containerd.service - containerd container runtime.')
    expect(journal).toContain('msg="starting containerd" revision= version=2.1.9')
  })

  test('a reboot has a boot of its own in the journal and in /proc', async () => {
    const before = made.bootId
    made.reboot()
    const boots = (await lab.run('node-08', 'journalctl --list-boots')).trimEnd().split('\n')
    expect(boots).toHaveLength(2)
    expect(boots[0]).toMatch(new RegExp(`^-1 ${before.replaceAll('-', '')} [A-Z]`))
    const proc = await lab.run(
      'node-08',
      'cat "$CNIBOT_NODE_ROOT/proc/sys/kernel/random/boot_id"; sed -n "s/^btime //p" "$CNIBOT_NODE_ROOT/proc/stat"',
    )
    expect(proc).toBe(`${made.bootId}\n${Math.floor(lab.clock.now() / 1000)}\n`)
  })

  test('`date` tells the lab time, and converts times that it is given', async () => {
    const now = lab.clock.now()
    expect(await lab.run('node-07', 'date +%s%3N; date -u +%Y-%m-%dT%H:%M:%SZ')).toBe(
      `${now}\n${new Date(now).toISOString().slice(0, 19)}Z\n`,
    )
    expect(await lab.run('node-07', 'date -u -d @0 +%Y')).toBe('1970\n')
    captured.switches.clockSkew(-3_600_000)
    expect(await lab.run('node-07', 'date +%s%3N')).toBe(`${now - 3_600_000}\n`)
    captured.switches.clockSkew(0)
  })
})

/** Room for one: .1 is the bridge's. */
const tiny = [{ type: 'bridge', ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.8.0/30' }]] } }]
