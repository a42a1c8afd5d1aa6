import { connect, createServer, type Socket } from 'node:net'

export interface LossyProxy {
  url: string
  /** The server still gets the next EVAL; its answer is swallowed and the connection cut. */
  loseNextAnswer(): void
  lost(): number
  close(): Promise<void>
}

/** Stands before a Redis server and loses an answer when told to. */
export const startLossyProxy = async (target: number): Promise<LossyProxy> => {
  let armed = false
  let lost = 0
  const sockets = new Set<Socket>()
  const proxy = createServer(client => {
    const upstream = connect(target, '127.0.0.1')
    let losing = false
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', chunk => {
      if (armed && chunk.toString().toLowerCase().includes('eval')) {
        armed = false
        losing = true
      }
      upstream.write(chunk)
    })
    upstream.on('data', chunk => {
      if (losing) {
        lost++
        client.destroy()
      } else client.write(chunk)
    })
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `redis://127.0.0.1:${address.port}`,
    loseNextAnswer: () => {
      armed = true
    },
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => proxy.close(resolve))
    },
  }
}
