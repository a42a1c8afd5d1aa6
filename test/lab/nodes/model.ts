import { randomBytes } from 'node:crypto'

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** `Mon 2026-11-30 15:23:34 UTC`, as systemd prints a time. */
export const humanTime = (ms: number): string => {
  const iso = new Date(ms).toISOString()
  return `${days[new Date(ms).getUTCDay()]} ${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

/** The Pod that a sandbox is made for, as the kubelet tells the runtime. */
export interface SandboxPod {
  name: string
  namespace: string
  uid: string
  labels?: Record<string, string>
  hostNetwork?: boolean
  /** How many sandboxes this Pod had before. */
  attempt?: number
}

export interface PodNetwork {
  address: string
  gateway: string
  prefix: number
  /** Name of the network in the conflist at the time of the ADD. */
  network: string
  netns: string
  veth: string
  ifindex: number
  mac: string
}

export interface Sandbox {
  id: string
  containerId: string
  pod: Required<SandboxPod>
  state: 'ready' | 'notready'
  /** Nanoseconds since 1970; the real runtime has been seen to print a year of 1754. */
  createdAt: bigint
  /** Default: where the kubelet got the Pod from. */
  annotations?: Record<string, string>
  /** False while the runtime is still making it: the address exists, `crictl pods` does not show it. */
  listed: boolean
  /** Absent on the host's network. Kept after the address was given back, as the runtime keeps its result. */
  network?: PodNetwork
  /** The network namespace is gone: no address inside it any more. */
  netnsClosed: boolean
  /** A DEL succeeded: nothing is left to give back. */
  released: boolean
}

/** One address file of the plugin. */
export interface Allocation {
  address: string
  owner: string
  ifname: string
  /** Milliseconds since 1970. */
  modified: number
}

/** What RunPodSandbox or StopPodSandbox answered instead of a sandbox. */
export class SandboxError extends Error {
  readonly sandboxId: string

  constructor(message: string, sandboxId: string) {
    super(message)
    this.name = 'SandboxError'
    this.sandboxId = sandboxId
  }
}

export const newId = (): string => randomBytes(32).toString('hex')

/** 8-4-4-4-12 hex digits, as a boot id or a network namespace's name carries. */
export const newUuid = (): string => {
  const hex = randomBytes(16).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** A locally administered, unicast hardware address. */
export const newMac = (): string => {
  const bytes = randomBytes(6)
  bytes[0] = ((bytes[0] ?? 0) & 0xfc) | 0x02
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join(':')
}

/** `…T15:25:25.391907529Z` from milliseconds; the digits below are made up, as nobody reads them. */
export const nanoTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000000Z')

/** A sandbox about to be made: an id of its own, no network yet. `now` in milliseconds. */
export const draftSandbox = (pod: SandboxPod, now: number): Sandbox => ({
  id: newId(),
  containerId: newId(),
  pod: { labels: {}, hostNetwork: false, attempt: 0, ...pod },
  state: 'ready',
  createdAt: BigInt(Math.round(now)) * 1_000_000n,
  listed: false,
  netnsClosed: false,
  released: false,
})
