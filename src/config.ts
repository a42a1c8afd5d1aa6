import type { z } from 'zod'
import { settings } from './settings/list.js'
import type { Role, Setting } from './settings/value.js'

type All = typeof settings
type Name = keyof All
export type Settings<R extends Role> = {
  [K in Name as R extends All[K]['roles'][number] ? K : never]: z.output<All[K]['schema']>
}
export type Environment = Record<string, string | undefined>

/** All that is wrong with the settings, one line each. The process that gets it prints `message` and exits with 2. */
export class SettingsError extends Error {
  override name = 'SettingsError'
  constructor(readonly problems: string[]) {
    super(`The settings cannot be used:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
  }
}

/** The process's own environment; nothing else in the program reads it. */
export const environment = (): Environment => process.env

/** The settings one role may see. Throws SettingsError with every problem at once. */
export const readSettings = <R extends Role>(env: Environment, role: R): Settings<R> => {
  const problems = unknownNames(env)
  const read: Record<string, unknown> = {}
  for (const [name, one] of visibleTo(role)) {
    // An empty variable is one that was not set: that is how charts leave things out.
    const given = env[one.env] === '' ? undefined : env[one.env]
    const parsed = one.schema.safeParse(given ?? one.default)
    if (parsed.success) read[name] = parsed.data
    else problems.push(problemOf(one, given, parsed.error))
  }
  problems.push(...disagreements(read))
  if (problems.length > 0) throw new SettingsError(problems)
  return read as Settings<R>
}

/** The settings as text for the log, in force after defaults, without secrets. */
export const shownSettings = (env: Environment, role: Role): Record<string, string> => {
  const shown: Record<string, string> = {}
  for (const [, one] of visibleTo(role)) {
    const value = env[one.env] || one.default
    if (value !== undefined) shown[one.env] = masked(one, value)
  }
  return shown
}

const visibleTo = (role: Role): [string, Setting][] =>
  Object.entries<Setting>(settings).filter(([, one]) => one.roles.includes(role))

const masked = (one: Setting, value: string): string => {
  if (one.secret === undefined) return value
  if (one.secret === true || !URL.canParse(value)) return '(set)'
  const url = new URL(value)
  if (url.password !== '') url.password = '***'
  return url.href
}

const problemOf = (one: Setting, given: string | undefined, error: z.ZodError): string => {
  if (given === undefined && one.default === undefined) return `${one.env} is missing: ${one.means}`
  const shown = one.secret === undefined ? `is ${JSON.stringify(given ?? one.default)}; it` : 'is set, but'
  return `${one.env} ${shown} must be ${error.issues[0]?.message ?? 'something else'}`
}

/** A misspelt name would silently leave a default in force. Names that Kubernetes makes for Services are not ours. */
const unknownNames = (env: Environment): string[] => {
  const known = new Set<string>(Object.values<Setting>(settings).map(one => one.env))
  return Object.keys(env)
    .filter(name => name.startsWith('CNIBOT_') && !known.has(name) && !/_(SERVICE|PORT)(_|$)/.test(name))
    .filter(name => name !== 'CNIBOT_NODE_ROOT')
    .map(name => `${name} is no setting of this version: correct its name or remove it`)
}

const slackHost = /(^|\.)slack(-gov)?\.com$/
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

const disagreements = (read: Record<string, unknown>): string[] => {
  if (typeof read.slackApiUrl !== 'string' || read.slackApiUrlAllowRemote !== false) return []
  const { hostname, protocol } = new URL(read.slackApiUrl)
  if (loopback.test(hostname) || (protocol === 'https:' && slackHost.test(hostname))) return []
  return [
    `CNIBOT_SLACK_API_URL names ${hostname}, which would be sent the Slack tokens; ` +
      'if that is wanted, set CNIBOT_SLACK_API_URL_ALLOW_REMOTE to true',
  ]
}
