import pino from 'pino'
import type { Log } from '../../ports.js'

export interface LogSettings {
  level: 'debug' | 'info' | 'warn' | 'error'
  /** On every line. */
  process: 'bot' | 'worker'
  cluster: string
  /** Default: standard output. */
  write?: (line: string) => void
}

const secrets: [RegExp, string][] = [
  [/xox[a-z]-[\w-]+/g, 'xox*-[redacted]'],
  [/xapp-[\w-]+/g, 'xapp-[redacted]'],
  [/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [redacted]'],
  [
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:(?!-----)[^"])*(?:-----END [A-Z0-9 ]*PRIVATE KEY-----)?/g,
    '[redacted key]',
  ],
  [/(\brediss?:\/\/[^\s:@/]*:)[^\s@/]+@/g, '$1[redacted]@'],
]
/** Whatever stands under such a key, at any depth of a JSON line. */
const secretKey =
  /("[^"]*(?:token|passw|passphrase|authorization|secret|private_?key|cookie)[^"]*":\s*)"(?:[^"\\]|\\.)*"/gi

/** Text without what looks like a secret. JSON stays JSON. */
export const redact = (text: string): string =>
  secrets.reduce(
    (rest, [pattern, instead]) => rest.replace(pattern, instead),
    text.replace(secretKey, '$1"[redacted]"'),
  )

/** JSON lines for operators. Redaction happens on the finished line, so that nothing can slip past it in a field. */
export const createLog = (settings: LogSettings): Log => {
  const write = settings.write ?? ((line: string) => process.stdout.write(line))
  const log = pino(
    {
      level: settings.level,
      base: { process: settings.process, cluster: settings.cluster },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
    },
    { write: line => write(redact(line)) },
  )
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  }
}
