import pino from 'pino'
import { withoutSecrets } from '../../core/secrets.js'
import type { Log } from '../../ports.js'

export interface LogSettings {
  level: 'debug' | 'info' | 'warn' | 'error'
  /** On every line. */
  process: 'bot' | 'worker'
  cluster: string
  /** Default: standard output. */
  write?: (line: string) => void
}

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
    { write: line => write(withoutSecrets(line)) },
  )
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  }
}
