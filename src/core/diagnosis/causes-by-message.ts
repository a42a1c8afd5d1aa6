import { isKnown } from '../evidence/bundle.js'
import { many } from './facts.js'
import { type Cause, hourMs } from './leak-facts.js'
import { readsCacheForDel, trustsDamagedCache } from './runtime-version.js'

/** A plugin further down the chain cannot run: ADD and its rollback fail, nothing is listed, one address a retry (containerd#12130). */
export const brokenChain: Cause = ({ fresh, journal, times, now }) => {
  const told = fresh.filter(
    ({ reading }) => reading.kind === 'plugin-missing' || reading.kind === 'plugin-cannot-run',
  )
  const recent = times.filter(at => now - at <= hourMs).length
  const [first] = told
  if (first === undefined || recent === 0) return undefined
  const rollbacks =
    journal?.lines.filter(line => /failed to destroy network for sandbox/i.test(line.text)).length ?? 0
  return {
    cause: 'broken-chain',
    says: `Every failed ADD leaves its address behind: ${first.reading.says}`,
    for: [
      `${recent} of ${times.length} were made within the last hour`,
      `${many(told.length, 'Pod fails', 'Pods fail')} with that message now`,
      ...(rollbacks > 0 ? [`${many(rollbacks, 'rollback')} failed in the journal`] : []),
    ],
    against: recent < times.length ? [`${times.length - recent} are older`] : [],
    missing: [],
    weight: (recent / times.length) * 6,
  }
}

/** Only a damaged entry, only old libcni, only CNI 0.4.0 and later; a missing entry is never why. */
export const damagedCache: Cause = ({ journal, bundle }) => {
  const lines =
    journal?.lines.filter(line => /cached result.*(unexpected end of JSON|decoding version)/i.test(line.text))
      .length ?? 0
  if (lines === 0) return undefined
  const runtime = isKnown(bundle.runtime) ? bundle.runtime.value : undefined
  const version = isKnown(bundle.conflist) ? bundle.conflist.value.cniVersion : undefined
  const trusts = runtime && trustsDamagedCache(runtime)
  const against = [
    ...(trusts === false ? [`${runtime?.name} ${runtime?.version} ignores damaged entries`] : []),
    ...(isKnown(bundle.conflist) && !readsCacheForDel(version)
      ? [`the configuration is CNI ${version}, for which the cache is not read`]
      : []),
  ]
  return {
    cause: 'damaged-cache',
    says: "libcni's result cache holds empty or damaged entries, and a DEL fails over each.",
    for: [`${many(lines, 'line')} of that in the journal`],
    against,
    missing: ['which entries are empty: look for files of 0 bytes in /var/lib/cni/results'],
    weight: against.length > 0 ? 0.1 : 3,
  }
}

/** containerd takes an error with "not found" in it for a sandbox that is gone already, and goes on (go-cni Remove). */
export const swallowedNotFound: Cause = ({ journal, band, fresh }) => {
  const tool = (text: string): boolean => /executable file not found in \$PATH/.test(text)
  const lines = journal?.lines.filter(line => tool(line.text)).length ?? 0
  const events = fresh.filter(({ reading }) => reading.code === 'HOST_TOOL_MISSING').length
  if (lines + events === 0) return undefined
  return {
    cause: 'host-tool-missing',
    says: 'A plugin before host-local fails in DEL because a program is not installed, and the runtime takes that for done.',
    for: [`${many(lines + events, 'message')} name a program that is not installed`],
    against: [],
    missing: band === undefined ? ['the journal'] : [],
    weight: 3,
  }
}

/** A create that could not be followed by a write: a crash or a full disk. */
export const unwritten: Cause = ({ emptyFiles, fresh }) => {
  const full = fresh.some(({ reading }) => reading.kind === 'disk-full')
  if (emptyFiles === 0 && !full) return undefined
  return {
    cause: 'unwritten-files',
    says: 'The disk was full or read-only, or the node crashed, while addresses were written or removed.',
    for: [
      ...(emptyFiles > 0
        ? [`${many(emptyFiles, 'file is', 'files are')} empty: made, but never written`]
        : []),
      ...(full ? ['a plugin cannot write its store right now'] : []),
    ],
    against: [],
    missing: full ? [] : ['whether the disk was full then'],
    weight: full ? 4 : 2,
  }
}
