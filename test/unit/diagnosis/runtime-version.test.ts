import {
  givesUpAfterOneDel,
  readsCacheForDel,
  skipsDelUntil,
  trustsDamagedCache,
} from '../../../src/core/diagnosis/runtime-version.js'

describe('P-R3: versions with a known fault', () => {
  test.each([
    ['containerd', '1.6.36', undefined],
    ['containerd', '1.6.38', '1.7.31'],
    ['containerd', '1.7.22', undefined],
    ['containerd', '1.7.23', '1.7.31'],
    ['containerd', 'v1.7.30', '1.7.31'],
    ['containerd', '1.7.31', undefined],
    ['containerd', '2.0.7-k3s1', '2.0.8'],
    ['containerd', '2.0.8', undefined],
    ['containerd', '2.1.6', '2.1.7'],
    ['containerd', '2.1.9+unknown', undefined],
    ['containerd', '2.2.1', '2.2.2'],
    ['containerd', '2.3.0', undefined],
    ['cri-o', '1.7.24', undefined],
    ['containerd', 'unknown', undefined],
  ])('%s %s skips DEL until %s', (name, version, fixed) => {
    expect(skipsDelUntil({ name, version })).toBe(fixed)
  })

  test.each([
    ['cri-o', '1.31.9', false],
    ['cri-o', '1.32.7', false],
    ['cri-o', '1.32.8', true],
    ['CRI-O', '1.33.3', false],
    ['cri-o', '1.33.4', true],
    ['cri-o', '1.34.0', true],
    ['containerd', '1.34.0', false],
  ])('%s %s gives up after one DEL: %s', (name, version, once) => {
    expect(givesUpAfterOneDel({ name, version })).toBe(once)
  })

  test.each([
    ['containerd', '1.7.24', true],
    ['containerd', '2.0.0', false],
    ['cri-o', '1.30.2', true],
    ['cri-o', '1.31.0', false],
    ['docker', '27.0.0', true],
    ['other', '1.0.0', undefined],
  ])('%s %s trusts a damaged cache entry: %s', (name, version, trusts) => {
    expect(trustsDamagedCache({ name, version })).toBe(trusts)
  })

  test.each([
    ['0.3.1', false],
    ['0.4.0', true],
    ['1.0.0', true],
    [undefined, false],
  ])('CNI %s reads the cache for a DEL: %s', (version, reads) => {
    expect(readsCacheForDel(version)).toBe(reads)
  })
})
