/** A small generator of numbers that gives the same row for the same seed. */
export const seeded = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

export type Mutation = (text: string, random: () => number) => string

const pick = <T>(random: () => number, some: readonly T[]): T => some[Math.floor(random() * some.length)] as T
const hex = (random: () => number, length: number): string =>
  Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')

/** Other ids, uids, Pods, namespaces, nodes and networks, the same old one always the same new one. */
export const otherNames: Mutation = (text, random) => {
  const made = new Map<string, string>()
  const other = (old: string, fresh: () => string): string => {
    const known = made.get(old)
    if (known !== undefined) return known
    const value = fresh()
    made.set(old, value)
    return value
  }
  return text
    .replace(/\b[0-9a-f]{64}\b/g, id => other(id, () => hex(random, 64)))
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, id =>
      other(id, () => [8, 4, 4, 4, 12].map(length => hex(random, length)).join('-')),
    )
    .replace(/\bnode-07\b/g, () => 'ip-172-16-9-4.example.internal')
    .replace(/\bshop\b/g, 'team-ledger-prod')
    .replace(/\b(?:web|api|ingress)(-[a-z0-9-]{1,20})\b/g, (_, rest: string) => `checkout-worker${rest}`)
    .replace(/\bcbr0\b/g, 'k8s-pod-network')
}

/** Lines of other releases: the file and the line that wrote a message change with every one. */
export const otherPlaces: Mutation = (text, random) =>
  text.replace(/[\w/]{1,40}\.go:\d{1,5}\]/g, () =>
    pick(random, ['moved_elsewhere.go:7]', 'kuberuntime/sandbox_v2.go:1204]', 'x.go:99999]']),
  )

export const otherAddresses: Mutation = (text, random) => {
  const first = `10.${Math.floor(random() * 200)}.${Math.floor(random() * 200)}`
  return text.replace(/\b10\.(?:244\.7|85\.\d{1,3}|88\.\d{1,3})\./g, `${first}.`)
}

/** Only where the text has ranges of host-local: IPv6 in several spellings. */
export const ipv6: Mutation = (text, random) => {
  const range = pick(random, [
    'fd00:10:244:7::1-fd00:10:244:7::fe',
    '2001:db8:42::2-2001:db8:42::ffff:ffff',
    'fd12:3456:789a:1::10-fd12:3456:789a:1:ffff:ffff:ffff:ffff',
  ])
  return text.replace(/(range set:? )[0-9a-f.:,-]{9,200}/, (_, before: string) => `${before}${range}`)
}

/** Wraps a text as one more program would have quoted it. */
const quotedOnce = (text: string): string => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"')

/** What was written without the prefix of the journal, of klog or of logrus. */
export const bare = (text: string): string =>
  text
    .replace(/^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:\S+ )?\S+: /, '')
    .replace(/^\d{4}-\d\d-\d\dT\S+ \S+ kubelet(?:\[\d+\]:| \d+ - -) +/, '')
    .replace(/^(?:kubelet )?[IWEF]\d{4} [\d:.]+ +(?:\d+ )?\S+\.go:\d+\] /, '')

const inner = (text: string): string => bare(text).trimEnd()

export const wrappings: Record<string, Mutation> = {
  journald: text => `Mar  3 09:08:07 worker-3.example kubelet[31337]: ${inner(text)}`,
  'journald with the year': text =>
    `2026-03-03T09:08:07.123456+0100 worker-3 containerd[812]: ${inner(text)}`,
  'klog of old': text => `E0303 09:08:07.123456   31337 remote_thing.go:411] ${inner(text)}`,
  'klog of today': text =>
    `E0303 09:08:07.123456   31337 x.go:12] "Something failed" err="${quotedOnce(inner(text))}"`,
  'klog over several lines': text =>
    `Mar 03 09:08:07 w3 kubelet[1]: E0303 09:08:07.123456       1 x.go:12] "Something failed" err=<\n\t${inner(text)}\n > pod="a/b"`,
  logrus: text =>
    `time="2026-03-03T09:08:07.123456789Z" level=error msg="it failed" error="${quotedOnce(inner(text))}"`,
  json: text => JSON.stringify({ level: 'error', ts: 1_772_528_887.1, msg: inner(text), stream: 'stderr' }),
  'json of json': text =>
    JSON.stringify({ log: `${JSON.stringify({ msg: inner(text) })}\n`, stream: 'stderr' }),
  'journald as json': text =>
    JSON.stringify({ _SYSTEMD_UNIT: 'kubelet.service', SYSLOG_IDENTIFIER: 'kubelet', MESSAGE: inner(text) }),
  'quoted twice': text => `"${quotedOnce(`"${quotedOnce(inner(text))}"`)}"`,
  'combined from similar events': text => `(combined from similar events): ${inner(text)}`,
  "kubectl's table": text => `Warning  FailedCreatePodSandBox  3m2s (x19 over 7m)  kubelet  ${inner(text)}`,
  'chat entities': text => inner(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'),
  'typed quotes': text => inner(text).replace(/"([^"]{0,200})"/g, '“$1”'),
  CRLF: text => `${text}\r\n`,
  'spaces around': text => `   \t${text}   `,
}

/** Around a call of the runtime that failed, as a kubelet tells it. */
export const wrappedBySync = (text: string, operation: 'add' | 'del'): string => {
  const [what, error] =
    operation === 'add'
      ? ['CreatePodSandbox', 'CreatePodSandboxError']
      : ['KillPodSandbox', 'KillPodSandboxError']
  return `E0303 09:08:07.1   31337 pod_workers.go:1] "Error syncing pod, skipping" err="${quotedOnce(`failed to "${what}" for "pay-0_ledger(3f921b4f-eb9d-f5b7-bff1-f06d289a0b70)" with ${error}: "${quotedOnce(inner(text))}"`)}" pod="ledger/pay-0"`
}

export const skipping: Mutation = text => `${text.trimEnd()}; Skipping pod`
