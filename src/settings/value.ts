import { z } from 'zod'
import { duration } from '../core/duration.js'

/** `cli` looks at nodes, `audit` at the record; neither is given what the other needs. */
export type Role = 'bot' | 'worker' | 'cli' | 'audit'

/** One setting: an environment variable, how its text is read, and what it means to the person who sets it. */
export interface Setting<R extends Role = Role, S extends z.ZodType = z.ZodType> {
  env: `CNIBOT_${string}`
  /** The processes that may see it. */
  roles: readonly R[]
  schema: S
  means: string
  /** The text used when the variable is not set. A setting with neither a default nor an optional schema is required. */
  default?: string
  /** `true`: never shown. `'password'`: an address of which the password is never shown. */
  secret?: true | 'password'
}

export const setting = <const R extends Role, S extends z.ZodType>(
  env: `CNIBOT_${string}`,
  roles: readonly R[],
  schema: S,
  means: string,
  more: { default?: string; secret?: true | 'password' } = {},
): Setting<R, S> => ({ env, roles, schema, means, ...more })

// What a value may be. Each message completes the sentence "… must be".

export const text = z.string().min(1, 'text')
export const time = duration
export const path = z.string().startsWith('/', 'an absolute path')
export const flag = z.stringbool({ error: 'true or false' })
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `one of ${values.join(', ')}` })
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `a whole number from ${min} to ${max}`)
export const token = (prefix: string) => z.string().startsWith(prefix, `a token that begins with ${prefix}`)
export const words = z.string().transform(value => value.trim().split(/\s+/))

/** `a,b , c` → ['a', 'b', 'c']; an empty list is allowed. */
export const list = (item: z.ZodType<string, string>) =>
  z
    .string()
    .transform(value => value.split(',').map(part => part.trim()))
    .transform(parts => parts.filter(part => part !== ''))
    .pipe(z.array(item))

export const slackUser = z
  .string()
  .regex(/^[UW][A-Z0-9]{2,}$/, 'Slack user ids such as U024BE7LH, with commas')
export const slackGroup = z
  .string()
  .regex(/^S[A-Z0-9]{2,}$/, 'Slack user group ids such as S0614TZR7, with commas')
export const slackPeople = z
  .string()
  .regex(/^[UWS][A-Z0-9]{2,}$/, 'ids of Slack users and user groups such as U024BE7LH,S0614TZR7, with commas')
export const slackChannel = z.string().regex(/^[CG][A-Z0-9]{2,}$/, 'a Slack channel id such as C024BE91L')

const dnsLabelMessage = 'a namespace name: small letters, digits and hyphens'
export const dnsLabel = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, dnsLabelMessage)
const clusterMessage = 'letters, digits, dots, underscores and hyphens, at most 63'
export const clusterName = z.string().regex(/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/, clusterMessage)

const isUrl = (value: string, protocols: string[]): boolean =>
  URL.canParse(value) && protocols.includes(new URL(value).protocol)
export const redisUrl = z
  .string()
  .refine(value => isUrl(value, ['redis:', 'rediss:']), 'an address such as redis://host:6379')
export const httpUrl = z
  .string()
  .refine(value => isUrl(value, ['http:', 'https:']), 'an address such as https://host/')
  .transform(value => (value.endsWith('/') ? value : `${value}/`))

export const timeZone = z.string().refine(value => {
  try {
    return Intl.DateTimeFormat('en', { timeZone: value }) !== undefined
  } catch {
    return false
  }
}, 'a time zone such as UTC or Europe/Berlin')

export interface Endpoint {
  host: string
  port: number | undefined
}

const readEndpoint = (value: string): Endpoint | undefined => {
  const found = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:@[\]]+))(?::(\d{1,5}))?$/.exec(value)
  const host = found?.[1] ?? found?.[2]
  const port = found?.[3] === undefined ? undefined : Number(found[3])
  if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) return undefined
  return { host, port }
}

const addressesMessage = 'node=address pairs with commas, such as node-07=10.0.0.7:2222,node-08=[fd00::8]'
/** `node-07=127.0.0.1:2207,node-08=10.0.0.8` → by node name. */
export const nodeAddresses = z.string().transform((value, context) => {
  const found = new Map<string, Endpoint>()
  for (const pair of value.split(',').map(part => part.trim())) {
    if (pair === '') continue
    const [, node, address] = /^([^=\s]+)=(\S+)$/.exec(pair) ?? []
    const endpoint = address === undefined ? undefined : readEndpoint(address)
    if (node === undefined || endpoint === undefined || found.has(node)) {
      context.addIssue({ code: 'custom', message: addressesMessage })
      return z.NEVER
    }
    found.set(node, endpoint)
  }
  return found
})

/** `user@host:port`, the port may be missing. */
export const jumpHost = z.string().transform((value, context) => {
  const at = value.indexOf('@')
  const endpoint = readEndpoint(value.slice(at + 1))
  if (at < 1 || endpoint === undefined) {
    context.addIssue({ code: 'custom', message: 'user@host or user@host:port' })
    return z.NEVER
  }
  return { user: value.slice(0, at), host: endpoint.host, port: endpoint.port ?? 22 }
})
