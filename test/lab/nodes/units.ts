import { humanTime } from './model.js'
import type { StateFiles } from './state-files.js'

interface Unit {
  name: string
  description: string
  program: string
  /** Milliseconds since 1970. */
  started: number
  restarts: number
  active: boolean
}

const unix = (ms: number): string => `@${Math.floor(ms / 1000)}`

const properties = (unit: Unit, pid: number, stamp: (ms: number) => string): string =>
  Object.entries({
    Type: 'notify',
    Restart: 'always',
    NRestarts: unit.restarts,
    ExecMainStartTimestamp: stamp(unit.started),
    ExecMainPID: unit.active ? pid : 0,
    MainPID: unit.active ? pid : 0,
    ExecStart: `{ path=${unit.program.split(' ')[0]} ; argv[]=${unit.program} ; ignore_errors=no }`,
    Id: `${unit.name}.service`,
    Description: unit.description,
    LoadState: 'loaded',
    ActiveState: unit.active ? 'active' : 'failed',
    SubState: unit.active ? 'running' : 'failed',
    ActiveEnterTimestamp: stamp(unit.started),
    InactiveExitTimestamp: stamp(unit.started),
  })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')

const unknown = Object.entries({
  NRestarts: 0,
  ExecMainStartTimestamp: '',
  MainPID: 0,
  LoadState: 'not-found',
  ActiveState: 'inactive',
  SubState: 'dead',
  ActiveEnterTimestamp: '',
})
  .map(([key, value]) => `${key}=${value}\n`)
  .join('')

/** The node's two services as `systemctl` shows them. */
export class Units {
  private readonly files: StateFiles
  private readonly pid: (unit: string) => number
  private readonly units = new Map<string, Unit>()

  constructor(files: StateFiles, started: number, pid: (unit: string) => number) {
    this.files = files
    this.pid = pid
    const unit = (name: string, description: string, program: string) =>
      this.units.set(name, { name, description, program, started, restarts: 0, active: true })
    unit('containerd', 'containerd container runtime', '/usr/bin/containerd')
    unit(
      'kubelet',
      'kubelet: The Kubernetes Node Agent',
      '/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml',
    )
    for (const style of ['show', 'show-unix']) files.write(`units/unknown.${style}`, unknown)
    for (const name of this.units.keys()) this.render(name)
  }

  description(name: string): string {
    return this.units.get(name)?.description ?? name
  }

  started(name: string): number {
    return this.units.get(name)?.started ?? 0
  }

  /** `automatic`: systemd itself started it again after a crash, which is what NRestarts counts. */
  start(name: string, time: number, automatic: boolean): void {
    const unit = this.units.get(name)
    if (unit === undefined) return
    unit.started = time
    unit.active = true
    unit.restarts = automatic ? unit.restarts + 1 : 0
    this.render(name)
  }

  setActive(name: string, active: boolean): void {
    const unit = this.units.get(name)
    if (unit === undefined) return
    unit.active = active
    this.render(name)
  }

  private render(name: string): void {
    const unit = this.units.get(name)
    if (unit === undefined) return
    const pid = this.pid(name)
    this.files.write(`units/${name}.show`, properties(unit, pid, humanTime))
    this.files.write(`units/${name}.show-unix`, properties(unit, pid, unix))
    this.files.write(
      `units/${name}.unit`,
      `# /lib/systemd/system/${name}.service\n[Unit]\nDescription=${unit.description}\n\n[Service]\nExecStart=${unit.program}\nRestart=always\n`,
    )
  }
}
