const redacted = '[redacted]'

/** Values that are secret wherever they stand, by their own shape. */
const shapes: [RegExp, string][] = [
  [/xox[a-z]-[\w-]+/g, `xox*-${redacted}`],
  [/xapp-[\w-]+/g, `xapp-${redacted}`],
  [/\bBearer\s+[\w.~+/=-]+/gi, `Bearer ${redacted}`],
  [/\b(Authorization:\s*Basic)\s+[\w+/=-]+/gi, `$1 ${redacted}`],
  // A JSON Web Token: what a ServiceAccount authenticates with.
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, `${redacted} token`],
  [
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?!-----)(?:\\[\s\S]|[^"\\]))*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?/g,
    `${redacted} key`,
  ],
  // Of any scheme: redis://user:password@host.
  [/(:\/\/[^\s:@/"]*:)[^\s@/"]+@/g, `$1${redacted}@`],
  [/\b(password|passwd|passphrase|token|secret|api[_-]?key)=(\\?["']?)[^\s&"'\\,;]+/gi, `$1=$2${redacted}`],
]

/** Whatever stands under such a key of a JSON text, at any depth. Bounded: the text may be somebody else's and long. */
const tellingKey =
  /("[^"]{0,80}(?:token|passw|passphrase|authorization|secret|private_?key|cookie)[^"]{0,80}":\s{0,8})"(?:[^"\\]|\\.)*"/gi

/** Most text is free of all of these. */
const suspicious =
  /xox[a-z]-|xapp-|bearer|authorization|eyJ|PRIVATE KEY|:\/\/|passw|passphrase|token|secret|api[_-]?key|cookie|private_?key/i

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
