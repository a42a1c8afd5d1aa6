const redacted = '[redacted]'

const word = '(?:passw(?:or)?d|passphrase|token|secret|api[_-]?key|access[_-]?key|signature|credential)'
const value = '[^\\s&"\'\\\\,;]{1,8192}'

/** Values that are secret wherever they stand, by their own shape. Each takes time by the length of the text alone. */
const shapes: [RegExp, string][] = [
  [/xox[a-z]-[\w-]+/g, `xox*-${redacted}`],
  [/xapp-[\w-]+/g, `xapp-${redacted}`],
  [/\b(?:gh[pousr]_|github_pat_|glpat-)[\w-]{16,255}/g, `${redacted} token`],
  [/\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g, `${redacted} key`],
  [/\bBearer\s+[\w.~+/=-]+/gi, `Bearer ${redacted}`],
  [/\b(Authorization:\s{0,8}[A-Za-z]{1,20})\s{1,8}[^\s"'\\,;]+/gi, `$1 ${redacted}`],
  // A JSON Web Token: what a ServiceAccount authenticates with. Tried at the beginning of a word alone.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, `${redacted} token`],
  [
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?!-----)(?:\\[\s\S]|[^"\\]))*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?/g,
    `${redacted} key`,
  ],
  // Of any scheme: redis://user:password@host, also where the password has an @ in it.
  [/(:\/\/[^\s:@/"]*:)[^\s/"]+@/g, `$1${redacted}@`],
  // DB_PASSWORD="two words", access_token=x, aws_secret_access_key=x
  [new RegExp(`(${word}[\\w-]{0,20}=\\\\?")[^"\\\\]{1,8192}`, 'gi'), `$1${redacted}`],
  [new RegExp(`(${word}[\\w-]{0,20}=\\\\?["']?)${value}`, 'gi'), `$1${redacted}`],
  // password: x, in YAML. Not token: x, which is how messages say what became of one.
  [
    new RegExp(`((?:passw(?:or)?d|passphrase|_secret|_key)["']?: {1,4}\\\\?["']?)${value}`, 'gi'),
    `$1${redacted}`,
  ],
  [new RegExp(`\\b(x-[\\w-]{0,30}(?:token|key|secret)):( {0,4})${value}`, 'gi'), `$1:$2${redacted}`],
  [
    new RegExp(`(--[\\w-]{0,30}(?:passw(?:or)?d|token|secret|api-key)) +(?!-)${value}`, 'gi'),
    `$1 ${redacted}`,
  ],
  // Quoted with ' or, JSON inside JSON, with \".
  [new RegExp(`('[\\w-]{0,40}${word}[\\w-]{0,40}': {0,4}')[^']{1,8192}`, 'gi'), `$1${redacted}`],
  [
    new RegExp(`(\\\\"[\\w-]{0,40}${word}[\\w-]{0,40}\\\\": {0,4}\\\\")[^"\\\\]{1,8192}`, 'gi'),
    `$1${redacted}`,
  ],
]

/** Whatever stands under such a key of a JSON text, at any depth. Bounded: the text may be somebody else's and long. */
const tellingKey =
  /("[^"]{0,80}(?:token|passw|passphrase|authorization|secret|private_?key|cookie)[^"]{0,80}":\s{0,8})"(?:[^"\\]|\\.)*"/gi

/** Most text is free of all of these. */
const suspicious =
  /xox[a-z]-|xapp-|bearer|authorization|eyJ|PRIVATE KEY|:\/\/|passw|passphrase|token|secret|api[_-]?key|access[_-]?key|signature|credential|cookie|private_?key|gh[pousr]_|github_pat|glpat|A[KS]IA/i

/**
 * Text without what looks like a secret; JSON stays JSON, and the same text again stays as it is. Commands and journals
 * of nodes quote what they were given, tokens too.
 */
export const withoutSecrets = (text: string): string =>
  suspicious.test(text)
    ? shapes.reduce(
        (rest, [pattern, instead]) => rest.replace(pattern, instead),
        text.replace(tellingKey, `$1"${redacted}"`),
      )
    : text
