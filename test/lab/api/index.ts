import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { stringify } from 'yaml'
import type { Allow } from './access.js'
import { selfSignedCertificate } from './certificate.js'
import { Faults } from './faults.js'
import { type AuditEntry, Handler } from './handler.js'
import { MemoryStore } from './memory-store.js'
import type { ReadClock } from './shapes.js'
import { Watches } from './watch.js'

export type { Allow, Attributes } from './access.js'
export type { Fault } from './faults.js'
export type { AuditEntry } from './handler.js'
export { MemoryStore } from './memory-store.js'
export { deleteObject } from './deletion.js'

export type LabUser = 'admin' | 'bot' | 'worker'

export interface LabApi {
  /** https://127.0.0.1:PORT */
  readonly url: string
  /** PEM of the server's own certificate: clients trust it as their CA. */
  readonly certificate: string
  /** The admin's bearer token. */
  readonly token: string
  readonly tokens: Readonly<Record<LabUser, string>>
  /** A kubeconfig in YAML for one of the users; admin by default. */
  kubeconfig(user?: LabUser): string
  readonly store: MemoryStore
  readonly faults: Faults
  /** Every request that named a resource, oldest first. */
  readonly audit: AuditEntry[]
  /** What `pods/log` answers, by `namespace/name`. */
  readonly logs: Map<string, string>
  close(): Promise<void>
}

/**
 * Starts an API server on loopback. `allow` decides who may do what; by default everybody may do everything.
 * `port` 0 or none takes a free one.
 */
export const startApiServer = async (options: {
  clock: ReadClock
  port?: number
  allow?: Allow
  random?: () => number
  historyLength?: number
  clusterName?: string
}): Promise<LabApi> => {
  const store = new MemoryStore(options)
  const watches = new Watches()
  const faults = new Faults(store, watches)
  const tokens = { admin: newToken(), bot: newToken(), worker: newToken() }
  const users = new Map(Object.entries(tokens).map(([user, token]) => [token, user]))
  const handler = new Handler({ store, watches, faults, users, allow: options.allow ?? (() => true) })
  const { key, certificate } = selfSignedCertificate()
  const server = createServer({ key, cert: certificate, keepAliveTimeout: 60_000 }, (request, response) => {
    void handler.handle(request, response)
  })
  const url = await listen(server, options.port ?? 0)
  return {
    url,
    certificate,
    token: tokens.admin,
    tokens,
    kubeconfig: (user = 'admin') =>
      kubeconfig({ name: options.clusterName ?? 'lab', url, certificate, user, token: tokens[user] }),
    store,
    faults,
    audit: handler.audit,
    logs: handler.logs,
    close: async () => {
      watches.each(watch => watch.end())
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

const listen = async (server: Server, port: number): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const newToken = (): string => randomBytes(24).toString('base64url')

const kubeconfig = (of: {
  name: string
  url: string
  certificate: string
  user: string
  token: string
}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': of.name,
    clusters: [
      {
        name: of.name,
        cluster: {
          server: of.url,
          'certificate-authority-data': Buffer.from(of.certificate).toString('base64'),
        },
      },
    ],
    users: [{ name: of.user, user: { token: of.token } }],
    contexts: [{ name: of.name, context: { cluster: of.name, user: of.user } }],
  })
