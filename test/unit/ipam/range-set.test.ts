import type { AddressRange } from '../../../src/core/evidence/bundle.js'
import {
  canonicalIp,
  inRanges,
  normalIp,
  setFinder,
  usableAddresses,
  usableOfSet,
} from '../../../src/core/ipam/range-set.js'

const one = (subnet: string, more: Partial<AddressRange> = {}): AddressRange => ({ subnet, ...more })

describe('usableOfSet', () => {
  test.each([
    ['P-E3: a /24 gives 253, not 254: its gateway lies inside', [one('10.244.7.0/24')], 253],
    ['P-E3: a /25 gives 125', [one('10.0.0.0/25')], 125],
    ['P-E3: a /26 gives 61', [one('10.0.0.64/26')], 61],
    ['a /27 gives 29', [one('10.0.0.0/27')], 29],
    ['a /23 gives 509', [one('10.0.0.0/23')], 509],
    ['a /22 gives 1021', [one('10.0.0.0/22')], 1021],
    ['a /30 gives 1', [one('10.0.0.0/30')], 1],
    ['two /29 in one set are one pool', [one('10.0.0.0/29'), one('10.0.1.0/29')], 10],
    ['a gateway outside the range takes nothing', [one('10.0.0.0/29', { gateway: '10.9.9.9' })], 6],
    ['a gateway elsewhere inside takes itself', [one('10.0.0.0/24', { gateway: '10.0.0.254' })], 253],
    [
      'rangeStart past the gateway',
      [one('10.0.0.0/24', { rangeStart: '10.0.0.10', rangeEnd: '10.0.0.19' })],
      10,
    ],
    ['rangeStart at the gateway', [one('10.0.0.0/24', { rangeStart: '10.0.0.1', rangeEnd: '10.0.0.10' })], 9],
    ['rangeStart may be the network address', [one('10.0.0.0/29', { rangeStart: '10.0.0.0' })], 6],
    ['an IPv6 range ends with all ones', [one('fd00:10:244:7::/120')], 254],
    ['an IPv6 /64 is counted', [one('fd00::/64')], 18_446_744_073_709_552_000],
  ])('%s', (_name, set, usable) => {
    expect(usableOfSet(set)).toBe(usable)
  })

  test.each([
    ['/31', [one('10.0.0.0/31')]],
    ['/32', [one('10.0.0.0/32')]],
    ['IPv6 /127', [one('fd00::/127')]],
    ['host bits', [one('10.0.0.5/24')]],
    ['no prefix', [one('10.0.0.0')]],
    ['an empty prefix', [one('10.0.0.0/')]],
    ['no address', [one('pods/24')]],
    ['start outside the subnet', [one('10.0.0.0/24', { rangeStart: '10.0.1.2' })]],
    ['start after end', [one('10.0.0.0/24', { rangeStart: '10.0.0.9', rangeEnd: '10.0.0.8' })]],
    ['a start of the other family', [one('10.0.0.0/24', { rangeStart: 'fd00::2' })]],
    ['one good, one bad range', [one('10.0.0.0/24'), one('10.0.1.0/32')]],
    ['an empty set', []],
  ])('what the plugin refuses is not counted: %s', (_name, set) => {
    expect(usableOfSet(set)).toBeUndefined()
  })
})

describe('usableAddresses', () => {
  test('P-E4: dual stack: each Pod takes one of each set, so the smallest set decides', () => {
    expect(usableAddresses([[one('10.244.7.0/24')], [one('fd00::/64')]])).toBe(253)
    expect(usableAddresses([[one('10.244.0.0/16')], [one('fd00::/124')]])).toBe(14)
  })

  test('no set at all, or one that cannot be read, is not zero', () => {
    expect(usableAddresses([])).toBeUndefined()
    expect(usableAddresses([[one('10.244.7.0/24')], [one('x')]])).toBeUndefined()
  })
})

describe('inRanges', () => {
  const sets = [[one('10.244.7.0/24')], [one('fd00:7::/64')]]
  test.each([
    ['10.244.7.2', 0],
    ['10.244.7.254', 0],
    ['10.244.7.0', undefined],
    ['10.244.7.1', undefined],
    ['10.244.7.255', undefined],
    ['10.244.8.2', undefined],
    ['fd00:7::a', 1],
    ['fd00:7::1', undefined],
    ['fd00:8::a', undefined],
    ['lock', undefined],
  ])('%s is of set %s', (ip, set) => {
    expect(setFinder(sets)(ip)).toBe(set)
    expect(inRanges(ip, sets)).toBe(set !== undefined)
  })
})

describe('canonicalIp', () => {
  test.each(['10.244.7.2', '0.0.0.0', 'fd00:10:244:7::2', '::1', 'fd00::1:0:0:2'])('takes %s', name => {
    expect(canonicalIp(name)).toBe(name)
  })

  test.each([
    'lock',
    'last_reserved_ip.0',
    '10.244.7',
    '10.244.7.02',
    '0x0a.1.1.1',
    '167772161',
    'FD00::2',
    'fd00:0::2',
    'fd00::2%eth0',
    ' 10.244.7.2',
    '10.244.7.2\n',
    '../10.244.7.2',
    '10.244.7.2/32',
    '::ffff:10.0.0.1',
    '',
  ])('refuses %j', name => {
    expect(canonicalIp(name)).toBeUndefined()
  })

  test('other spellings of one address compare equal', () => {
    expect(normalIp('FD00:0:0::2')).toBe('fd00::2')
    expect(normalIp('::ffff:10.0.0.1')).toBe('10.0.0.1')
    expect(normalIp('nonsense')).toBeUndefined()
  })
})
