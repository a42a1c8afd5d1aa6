import { auditFacts, eventDigest } from '../../../src/core/audit/entry.js'
import { done, event, failed, opened, t0 } from '../runbook/runs.js'

const run = 'run/node-07.eu.1-r2'

describe('the record', () => {
  it('names the runbook and its text for the opening of a run', () => {
    expect(auditFacts(run, 0, opened())).toEqual({
      at: t0,
      by: 'U1',
      type: 'RunOpened',
      node: 'node-07.eu',
      stream: run,
      position: 0,
      event: eventDigest(JSON.parse(JSON.stringify(opened()))),
      runbook: { name: 'small', digest: 'd'.repeat(64) },
    })
  })

  it('holds the digest, title and commands of a plan, not its lists', () => {
    const plan = event(1, 'StepPlanned', {
      index: 0,
      digest: 'a'.repeat(64),
      plan: {
        kind: 'cordon',
        title: 'Cordon node-07',
        commands: ['PATCH /api/v1/nodes/node-07'],
        lists: [{ title: 'Addresses', rows: ['10.244.7.1'] }],
        data: {},
      },
    })
    const facts = auditFacts(run, 1, plan)
    expect(facts).toMatchObject({
      step: 0,
      kind: 'cordon',
      plan: 'a'.repeat(64),
      says: 'Cordon node-07',
      commands: ['PATCH /api/v1/nodes/node-07'],
    })
    expect(JSON.stringify(facts)).not.toContain('10.244.7.1')
  })

  it('says who approved which plan', () => {
    const digest = 'a'.repeat(64)
    expect(auditFacts(run, 2, event(2, 'StepApproved', { by: 'U2', index: 0, digest }))).toMatchObject({
      by: 'U2',
      type: 'StepApproved',
      plan: digest,
      step: 0,
    })
  })

  it('says what came of it', () => {
    expect(auditFacts(run, 3, done(0, 'cordon', true))).toMatchObject({ changed: true, says: 'cordon done' })
    expect(auditFacts(run, 3, failed(0))).toMatchObject({ failed: 'failed', says: 'it did not work' })
    const ended = event(4, 'RunEnded', { outcome: 'held', escalateTo: 'platform' })
    expect(auditFacts(run, 4, ended)).toMatchObject({ outcome: 'held', to: 'platform' })
  })

  it('P-P6: keeps the reason for closing by hand, with the name', () => {
    const closed = { at: t0, by: 'U3', type: 'ClosedByHand', reason: 'node was replaced' }
    expect(auditFacts('incident/node-07', 9, closed)).toMatchObject({
      by: 'U3',
      node: 'node-07',
      says: 'node was replaced',
    })
  })

  it('names no node for what was shown of a storm', () => {
    const posted = { at: t0, type: 'Posted', key: 'storm', channel: 'C1', ts: '1.2', digest: 'm1' }
    const facts = auditFacts(`thread/fleet/storm-${t0}`, 0, posted)
    expect(facts?.shown?.key).toBe('storm')
    expect(facts?.node).toBeUndefined()
  })

  it('has what was shown in the thread: each message once, a plan at each change', () => {
    const stream = 'thread/node-07.1'
    const posted = {
      at: t0,
      type: 'Posted',
      key: 'plan-r-0-aaaaaaaa',
      channel: 'C1',
      ts: '1.2',
      digest: 'm1',
    }
    expect(auditFacts(stream, 0, posted)).toMatchObject({
      by: 'cnibot',
      node: 'node-07',
      shown: { key: 'plan-r-0-aaaaaaaa', channel: 'C1', ts: '1.2', message: 'm1' },
    })
    expect(auditFacts(stream, 0, posted)).not.toHaveProperty('plan')
    expect(
      auditFacts(stream, 1, { at: t0, type: 'Updated', key: 'plan-r-0-aaaaaaaa', digest: 'm2' }),
    ).toMatchObject({
      shown: { message: 'm2' },
    })
    expect(auditFacts(stream, 2, { at: t0, type: 'Updated', key: 'head', digest: 'm3' })).toBeUndefined()
    expect(
      auditFacts(stream, 3, { at: t0, type: 'Attached', key: 'plan-r-0-aaaaaaaa', name: 'plan.txt' }),
    ).toMatchObject({
      shown: { key: 'plan-r-0-aaaaaaaa', file: 'plan.txt' },
    })
  })

  it('leaves out what is only noticed or counted, and histories of questions', () => {
    for (const type of ['SymptomSeen', 'SymptomGone', 'EvidenceWanted', 'EvidenceCollected', 'Opened'])
      expect(auditFacts('incident/node-07', 0, { at: t0, by: 'cnibot', type })).toBeUndefined()
    expect(auditFacts(run, 4, event(4, 'StepProgressed', { index: 0, says: '31 of 44' }))).toBeUndefined()
    expect(auditFacts('request/1', 0, { at: t0, type: 'Asked' })).toBeUndefined()
    expect(auditFacts('fleet', 0, { at: t0, type: 'Taken', node: 'node-07', run: 'r' })).toBeUndefined()
  })

  it('names each Pod whose eviction was accepted, when it was', () => {
    const evicted = [
      { pod: 'shop/a', uid: '1' },
      { pod: 'shop/b', uid: '2' },
    ]
    expect(
      auditFacts(run, 4, event(4, 'StepProgressed', { index: 0, says: '31 of 44', evicted })),
    ).toMatchObject({ says: 'evicted: shop/a, shop/b', step: 0, type: 'StepProgressed' })
  })

  it('has a pause of everything, and whatever kind of decision comes later', () => {
    expect(auditFacts('fleet', 0, { at: t0, by: 'U1', type: 'Paused', why: 'change freeze' })).toMatchObject({
      by: 'U1',
      says: 'change freeze',
    })
    expect(
      auditFacts('fleet', 1, { at: t0, type: 'StormSeen', nodes: ['node-07', 'node-08'] }),
    ).toMatchObject({
      by: 'cnibot',
      says: 'node-07, node-08',
    })
    expect(auditFacts(run, 0, { at: t0, by: 'U1', type: 'SomethingNew' })).toMatchObject({
      type: 'SomethingNew',
    })
  })

  it('holds no secret and no long output, but the digest of all of it', () => {
    const message = `token=abc123def ${'x'.repeat(5_000)}`
    const bad = event(5, 'StepFailed', {
      index: 0,
      error: { class: 'failed', message, output: 'password=hunter2' },
    })
    const facts = auditFacts(run, 5, bad)
    expect(facts?.says).toHaveLength(1_000)
    expect(JSON.stringify(facts)).not.toMatch(/abc123def|hunter2/)
    expect(facts?.event).toBe(eventDigest(bad))
  })
})
