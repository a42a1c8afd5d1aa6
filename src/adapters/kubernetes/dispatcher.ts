import { createHash } from 'node:crypto'
import type { KubeConfig } from '@kubernetes/client-node'
import { Agent, type buildConnector, type Dispatcher, ProxyAgent } from 'undici'
import { Refused } from '../../ports.js'

type Cluster = Parameters<KubeConfig['createDispatcherOptions']>[0]
type Tls = Parameters<KubeConfig['createDispatcherOptions']>[1]

/**
 * Makes the client use one connection pool. Without it every call builds an agent of its own: one TLS handshake a
 * call, and its socket stays open for seconds. The pool is replaced when certificate or CA change on disk.
 * Source: kubernetes-client/javascript config.ts `applySecurityAuthentication`, issue 2893.
 */
export const cachedDispatcher = (config: KubeConfig, connections: number): { close(): Promise<void> } => {
  let current: { key: string; dispatcher: Dispatcher } | undefined
  const createDispatcher = (cluster: Cluster, tls: Tls): Dispatcher => {
    const options = config.createDispatcherOptions(cluster, tls)
    const key = createHash('sha256').update(JSON.stringify(options)).digest('hex')
    if (current?.key === key) return current.dispatcher
    // Calls and watches under way end on the old pool; it closes behind them.
    void current?.dispatcher.close().catch(() => undefined)
    current = { key, dispatcher: build(options, connections) }
    return current.dispatcher
  }
  // The method is private in the package's types; there is no option for it.
  Object.defineProperty(config, 'createDispatcher', { value: createDispatcher })
  return {
    close: async () => {
      await current?.dispatcher.destroy()
      current = undefined
    },
  }
}

// The same type on both sides but for `undefined` in optional fields.
type Connect = buildConnector.BuildOptions

const build = (
  options: ReturnType<KubeConfig['createDispatcherOptions']>,
  connections: number,
): Dispatcher => {
  // No limit on the silence inside a body: a quiet watch is legitimate and has its own deadline.
  const limits = { connections, bodyTimeout: 0 }
  switch (options.type) {
    case 'agent':
      return new Agent({ ...limits, connect: options.connect as Connect })
    case 'proxy':
      return new ProxyAgent({
        ...limits,
        uri: options.uri,
        requestTls: options.requestTls as Connect,
        connect: options.connect as Connect,
      })
    case 'socks':
      throw new Refused(`proxy ${options.uri}: SOCKS is not supported; use an HTTP proxy`)
    case 'none':
      return new Agent(limits)
  }
}
