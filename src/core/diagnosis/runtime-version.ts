type Triple = [major: number, minor: number, patch: number]

const parse = (version: string): Triple | undefined => {
  const match = /(\d+)\.(\d+)\.(\d+)/.exec(version)
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined
}

interface Named {
  name: string
  version: string
}
interface Series {
  minor: [major: number, minor: number]
  from: number
  to: number
  fixedIn: string
}

/**
 * containerd skips the CNI DEL of a sandbox whose network setup left no result, so its address stays: introduced with
 * containerd#10744, fixed with containerd#12923. 1.6 has no release with the fix.
 */
const skipping: Series[] = [
  { minor: [1, 6], from: 37, to: Number.MAX_SAFE_INTEGER, fixedIn: '1.7.31' },
  { minor: [1, 7], from: 23, to: 30, fixedIn: '1.7.31' },
  { minor: [2, 0], from: 0, to: 7, fixedIn: '2.0.8' },
  { minor: [2, 1], from: 0, to: 6, fixedIn: '2.1.7' },
  { minor: [2, 2], from: 0, to: 1, fixedIn: '2.2.2' },
]

/** The version that no longer skips DEL, if this one does; undefined for a version that does not, or is none we can read. */
export const skipsDelUntil = ({ name, version }: Named): string | undefined => {
  const triple = parse(version)
  if (name !== 'containerd' || triple === undefined) return undefined
  const [major, minor, patch] = triple
  return skipping.find(
    ({ minor: [a, b], from, to }) => a === major && b === minor && patch >= from && patch <= to,
  )?.fixedIn
}

/**
 * CRI-O marks a network as stopped after one failed teardown and deletes its cache entry, so that nobody tries again
 * (since 1.32.8, 1.33.4 and 1.34.0; cri-o commit e1bf924809).
 */
export const givesUpAfterOneDel = ({ name, version }: Named): boolean => {
  const triple = parse(version)
  if (!/^cri-?o$/i.test(name) || triple === undefined) return false
  const [major, minor, patch] = triple
  if (major !== 1) return major > 1
  return minor >= 34 || (minor === 33 && patch >= 4) || (minor === 32 && patch >= 8)
}

/**
 * libcni up to 1.1.2 fails a DEL over an empty or damaged cache entry (containernetworking/cni#1055), later ones ignore
 * it. By runtime: containerd before 2.0, CRI-O before 1.31, cri-dockerd and dockershim in every version. undefined where
 * the runtime is none of these.
 */
export const trustsDamagedCache = ({ name, version }: Named): boolean | undefined => {
  const triple = parse(version)
  if (/docker/i.test(name)) return true
  if (triple === undefined) return undefined
  const [major, minor] = triple
  if (name === 'containerd') return major < 2
  if (/^cri-?o$/i.test(name)) return major === 1 && minor <= 30
  return undefined
}

/** libcni reads its cache for a DEL only for configurations of CNI 0.4.0 and later. */
export const readsCacheForDel = (cniVersion: string | undefined): boolean => {
  const triple = parse(cniVersion ?? '0.1.0')
  return triple !== undefined && (triple[0] > 0 || triple[1] >= 4)
}
