import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import ssh2, { type Connection, type ServerChannel } from 'ssh2'
import type { SshServer, SshServerOptions } from './sshd.js'

/** The same door where OpenSSH's server is missing: key-only, one command a channel, run by /bin/sh. */
export const startSsh2Server = async (options: SshServerOptions): Promise<SshServer> => {
  const allowed = readFileSync(options.authorizedKeysFile, 'utf8').trim().split('\n').map(publicBytes)
  const open = new Set<Connection>()
  const server = new ssh2.Server({ hostKeys: [readFileSync(options.hostKeyFile)] }, client => {
    open.add(client)
    client.on('error', () => undefined)
    client.once('close', () => open.delete(client))
    client.on('authentication', context => {
      if (context.method !== 'publickey' || !allowed.some(key => key.equals(context.key.data))) {
        context.reject(['publickey'])
        return
      }
      if (context.signature === undefined || context.blob === undefined) {
        context.accept()
        return
      }
      const key = ssh2.utils.parseKey(`${context.key.algo} ${context.key.data.toString('base64')}`)
      if (!(key instanceof Error) && key.verify(context.blob, context.signature, context.hashAlgo) === true) {
        context.accept()
      } else {
        context.reject(['publickey'])
      }
    })
    client.on('session', accept => {
      accept().on('exec', (acceptExec, _reject, { command }) => {
        if (options.commandLog !== undefined) appendFileSync(options.commandLog, `${command}\0`)
        run(acceptExec(), command, options.environment)
      })
    })
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  return {
    port,
    close: () =>
      new Promise(resolve => {
        for (const client of open) client.end()
        server.close(() => resolve())
      }),
  }
}

const publicBytes = (line: string): Buffer => Buffer.from(line.split(' ')[1] ?? '', 'base64')

const run = (channel: ServerChannel, command: string, environment: Record<string, string>): void => {
  const child = spawn('/bin/sh', ['-c', command], { env: { HOME: process.env.HOME, ...environment } })
  channel.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  child.stdout.pipe(channel, { end: false })
  child.stderr.pipe(channel.stderr, { end: false })
  channel.once('close', () => child.stdin.destroy())
  child.once('close', (code, signal) => {
    if (signal === null) channel.exit(code ?? 1)
    else channel.exit(signal.replace(/^SIG/, ''))
    channel.end()
  })
}
