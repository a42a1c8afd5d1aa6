import { createServer, type ServerResponse } from 'node:http'

export interface HttpSettings {
  /** Undefined: all addresses. */
  host?: string | undefined
  /** 0 takes a free one. */
  port: number
  /** Why this process cannot do its work now, one line each; empty when it can. */
  notReady: () => string[] | Promise<string[]>
  metrics: { contentType: string; text(): Promise<string> }
}

export interface RunningHttp {
  port: number
  close(): Promise<void>
}

/**
 * `/healthz` says only that this process still turns: a restart would not bring back Slack, Redis or the API server.
 * `/readyz` names what is missing. `/metrics` is for Prometheus. Throws when the port is taken.
 */
export const startHttp = async (settings: HttpSettings): Promise<RunningHttp> => {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'only GET\n')
    respond(settings, request.url ?? '/', response).catch(() => answer(response, 500, 'failed\n'))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `cannot listen on port ${settings.port}: ${error.code ?? error.message}; set CNIBOT_HTTP_PORT`,
        ),
      ),
    )
    server.listen(
      { port: settings.port, ...(settings.host === undefined ? {} : { host: settings.host }) },
      resolve,
    )
  })
  const address = server.address()
  const port = address !== null && typeof address !== 'string' ? address.port : settings.port
  return {
    port,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const respond = async (settings: HttpSettings, url: string, response: ServerResponse): Promise<void> => {
  const path = url.split('?', 1)[0]
  if (path === '/healthz') return answer(response, 200, 'ok\n')
  if (path === '/metrics') {
    return answer(response, 200, await settings.metrics.text(), settings.metrics.contentType)
  }
  if (path !== '/readyz') return answer(response, 404, 'there are /healthz, /readyz and /metrics\n')
  const missing = await settings.notReady()
  if (missing.length > 0) return answer(response, 503, `${missing.join('\n')}\n`)
  return answer(response, 200, 'ready\n')
}

const answer = (
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void => {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(text)
}
