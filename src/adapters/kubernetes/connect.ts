import {
  AppsV1Api,
  BatchV1Api,
  CoreV1Api,
  createConfiguration,
  DiscoveryV1Api,
  HttpMethod,
  KubeConfig,
  PolicyV1Api,
  RequestContext,
  ServerConfiguration,
} from '@kubernetes/client-node'
import { type Dispatcher, fetch, type Response } from 'undici'
import { Refused } from '../../ports.js'
import { cachedDispatcher } from './dispatcher.js'
import { reasonOf } from './errors.js'

/** A kubeconfig file (and optionally one of its contexts), or the service account of the Pod this runs in. */
export interface KubeLocation {
  kubeconfig: string | undefined
  context: string | undefined
}

export interface ConnectOptions {
  /** Deadline of one call, its answer's body included. */
  timeoutMs?: number
  /** Sockets to the API server at most; every watch holds one. */
  connections?: number
}

/** One connection pool to one API server. */
export interface Kube {
  /** The server's address, for messages. */
  server: string
  core: CoreV1Api
  apps: AppsV1Api
  batch: BatchV1Api
  discovery: DiscoveryV1Api
  policy: PolicyV1Api
  /** A plain GET whose body is left to the caller: lists as raw JSON and watch streams. No deadline but `signal`. */
  get(path: string, query: Record<string, string>, signal: AbortSignal): Promise<Response>
  timeoutMs: number
  close(): Promise<void>
}

/** @throws Refused when the kubeconfig cannot be used; nothing is sent yet. */
export const connectKube = (where: KubeLocation, options: ConnectOptions = {}): Kube => {
  const timeoutMs = options.timeoutMs ?? 15_000
  const config = loadConfig(where)
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Refused(`${nameOf(where)}: its context names no cluster; check "contexts" there`)
  const dispatchers = cachedDispatcher(config, options.connections ?? 16)
  // Promise middlewares: the package wants its own Observable from an ordinary one (it is not exported).
  const api = createConfiguration({
    baseServer: new ServerConfiguration(cluster.server, {}),
    authMethods: { default: config },
    promiseMiddleware: [
      {
        pre: async context => {
          context.setSignal(AbortSignal.timeout(timeoutMs))
          return context
        },
        post: async response => response,
      },
    ],
  })
  return {
    server: cluster.server,
    core: new CoreV1Api(api),
    apps: new AppsV1Api(api),
    batch: new BatchV1Api(api),
    discovery: new DiscoveryV1Api(api),
    policy: new PolicyV1Api(api),
    timeoutMs,
    get: (path, query, signal) => rawGet(config, cluster.server, path, query, signal),
    close: () => dispatchers.close(),
  }
}

const rawGet = async (
  config: KubeConfig,
  server: string,
  path: string,
  query: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> => {
  const url = new URL(server.replace(/\/$/, '') + path)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const context = new RequestContext(url.toString(), HttpMethod.GET)
  context.setHeaderParam('Accept', 'application/json')
  await config.applySecurityAuthentication(context)
  const dispatcher: Dispatcher | undefined = context.getDispatcher()
  return fetch(url, {
    headers: context.getHeaders(),
    signal,
    ...(dispatcher === undefined ? {} : { dispatcher }),
  })
}

const nameOf = (where: KubeLocation): string =>
  where.kubeconfig === undefined ? 'in-cluster configuration' : `kubeconfig ${where.kubeconfig}`

const loadConfig = (where: KubeLocation): KubeConfig => {
  const config = new KubeConfig()
  try {
    if (where.kubeconfig === undefined) config.loadFromCluster()
    else config.loadFromFile(where.kubeconfig)
  } catch (error) {
    // An empty file, or YAML that is something else, fails inside the loader.
    const why = error instanceof TypeError ? 'it is no kubeconfig' : reasonOf(error)
    throw new Refused(`${nameOf(where)} cannot be read: ${why}`)
  }
  if (where.kubeconfig === undefined) {
    // Outside a cluster the loader builds "https://undefined:undefined" instead of failing.
    if (config.getCurrentCluster()?.server.includes('undefined') !== false)
      throw new Refused('not inside a cluster: name a kubeconfig file')
    return config
  }
  const context = where.context ?? config.getCurrentContext()
  const names = config.getContexts().map(each => each.name)
  if (!names.includes(context))
    throw new Refused(
      `${nameOf(where)} has no context "${context ?? ''}"; it has: ${names.join(', ') || 'none at all'}`,
    )
  config.setCurrentContext(context)
  return config
}
