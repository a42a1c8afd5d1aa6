import { actionId, actions, type ButtonValue, decodeButton, encodeButton } from '../../../src/view/button.js'

const full: ButtonValue = {
  action: 'approve',
  cluster: 'prod-eu1',
  incident: 'node-07.1',
  run: 'r-1',
  index: 2,
  digest: 'a'.repeat(64),
}

test.each(actions)('a button for %s comes back as it was made', action => {
  expect(decodeButton(encodeButton({ ...full, action }))).toEqual({ ...full, action })
  expect(actionId(action)).toBe(`cnibot:${action}`)
})

test('only the ids are carried, and no more than Slack takes', () => {
  const { action, cluster, incident } = full
  expect(decodeButton(encodeButton({ action, cluster, incident }))).toEqual({ action, cluster, incident })
  expect(encodeButton(full).length).toBeLessThan(300)
  expect(() => encodeButton({ ...full, run: 'x'.repeat(2_000) })).toThrow('Slack takes 2000')
})

test.each([
  ['', 'nothing'],
  ['rm -rf /', 'a command'],
  ['[]', 'a list'],
  ['{"a":"reboot","c":"c","i":"i"}', 'an action that does not exist'],
  ['{"a":"hold","c":"","i":"i"}', 'no cluster'],
  ['{"a":"hold","c":"c"}', 'no incident'],
  ['{"a":"approve","c":"c","i":"i","n":-1}', 'a step before the first'],
  ['{"a":"approve","c":"c","i":"i","d":"short"}', 'a digest that is none'],
  [`{"a":"hold","c":"c","i":"${'i'.repeat(2_000)}"}`, 'too much'],
])('%j is refused: %s', text => {
  expect(decodeButton(text)).toBeUndefined()
})
