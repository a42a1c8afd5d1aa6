import { spawn } from 'node:child_process'
import { builtProgram } from './built.js'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** `cnibot …` as a person starts it, with this environment and nothing of ours; ended after a minute at the latest. */
export const cnibot = (args: string[], env: Record<string, string>): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [builtProgram(), ...args], {
      env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 180_000,
    })
    const ended: Ended = { code: null, stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => {
      ended.stdout += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => {
      ended.stderr += chunk.toString()
    })
    child.once('error', reject)
    child.once('close', code => resolve({ ...ended, code }))
  })

/** This environment without some of its variables. */
export const without = (env: Record<string, string>, ...names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
