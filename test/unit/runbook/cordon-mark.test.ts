import { cordonOwner, cordonState, theirs } from '../../../src/core/runbook/cordon-mark.js'

const mark = 'prod-eu1/node-07.1'

test.each([
  ['ours', true, ['cnibot'], { cordonedBy: mark, cordonedWith: undefined }],
  ['by hand, our mark left behind', true, ['kubectl'], { cordonedBy: undefined, cordonedWith: 'kubectl' }],
  ['shared with somebody', true, ['cnibot', 'gitops'], { cordonedBy: undefined, cordonedWith: 'gitops' }],
  ['a server that does not say', true, [], { cordonedBy: undefined, cordonedWith: undefined }],
  ['none, our mark left behind', false, [], { cordonedBy: undefined, cordonedWith: undefined }],
])('B7: whose a cordon is: %s', (_what, unschedulable, managers, owner) => {
  expect(cordonOwner({ unschedulable, mark, managers })).toEqual(owner)
})

test('B7: a writer that names itself like our mark is not taken for us', () => {
  const owner = cordonOwner({ unschedulable: true, mark, managers: [mark] })
  expect(theirs(owner)).toBe('somebody else (with prod-eu1/node-07.1)')
  expect(cordonState({ unschedulable: true, ...owner }, mark)).toEqual({ whose: 'theirs', by: theirs(owner) })
})

test('B7: the mark of another incident is not this one’s', () => {
  const owner = cordonOwner({ unschedulable: true, mark: 'prod-eu1/node-07.0', managers: ['cnibot'] })
  expect(cordonState({ unschedulable: true, ...owner }, mark)).toEqual({
    whose: 'theirs',
    by: 'prod-eu1/node-07.0',
  })
})
