import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { humanTime, nanoTime } from './model.js'

export interface JournalOptions {
  /** The folder `.lab/journal` of the node. */
  folder: string
  hostname: string
  bootId: string
  /** When the node booted, in milliseconds. */
  started: number
}

const shortUnit = (unit: string): string => unit.replace(/\.service$/, '')

/** The node's journal, one file a unit, in the form of `journalctl -o json`. Times are milliseconds. */
export class Journal {
  private bootId: string
  private readonly boots: { id: string; first: number; last?: number }[] = []
  private readonly folder: string
  private readonly hostname: string
  private sequence = 0
  private readonly seed = randomBytes(16).toString('hex')
  private readonly pids = new Map<string, number>()

  constructor({ folder, hostname, bootId, started }: JournalOptions) {
    this.folder = folder
    this.hostname = hostname
    this.bootId = bootId
    mkdirSync(folder, { recursive: true })
    this.booted(bootId, started)
  }

  /** From here on, lines belong to this boot. */
  booted(bootId: string, time: number): void {
    const before = this.boots.at(-1)
    if (before !== undefined) before.last = time - 15_000
    this.boots.push({ id: bootId, first: time })
    this.bootId = bootId
    const lines = this.boots.map(({ id, first, last }, index) => {
      const end = last === undefined ? '@now@' : humanTime(last)
      const back = String(index + 1 - this.boots.length).padStart(2)
      return `${back} ${id.replaceAll('-', '')} ${humanTime(first)}—${end}\n`
    })
    writeFileSync(join(this.folder, 'boots.txt'), lines.join(''))
  }

  /** A line that the unit's program wrote. */
  write(unit: string, time: number, message: string): void {
    this.append(
      unit,
      this.entry(`${shortUnit(unit)}.service`, shortUnit(unit), this.pid(unit), time, message),
    )
  }

  /** Many lines at once, for a journal of megabytes. */
  writeAll(unit: string, lines: { time: number; message: string }[]): void {
    const pid = this.pid(unit)
    const name = shortUnit(unit)
    this.append(
      unit,
      lines.map(({ time, message }) => this.entry(`${name}.service`, name, pid, time, message)).join(''),
    )
  }

  /** A line of systemd about the unit: it stands in the unit's journal too. */
  systemd(unit: string, time: number, message: string): void {
    this.append(
      unit,
      this.entry('init.scope', 'systemd', 1, time, message, { UNIT: `${shortUnit(unit)}.service` }),
    )
  }

  /** containerd's own form of a line. */
  containerd(time: number, level: 'info' | 'warning' | 'error', message: string, error?: string): void {
    const tail = error === undefined ? '' : ` error=${JSON.stringify(error)}`
    this.write(
      'containerd',
      time,
      `time="${nanoTime(time)}" level=${level} msg=${JSON.stringify(message)}${tail}`,
    )
  }

  containerdStart(time: number, version: string): void {
    const line = (at: number, text: string) =>
      this.write('containerd', at, `time="${nanoTime(at)}" level=info msg=${text}`)
    line(time, `"starting containerd" revision= version=${version}`)
    line(time + 50, '"containerd successfully booted in 0.050000s"')
  }

  /** klog's own form: level and time, pid, place in the source, message. */
  kubelet(time: number, level: 'I' | 'W' | 'E', place: string, message: string): void {
    const at = new Date(time).toISOString()
    const stamp = `${level}${at.slice(5, 7)}${at.slice(8, 10)} ${at.slice(11, 23)}000`
    const pid = String(this.pid('kubelet')).padStart(7)
    this.write('kubelet', time, `${stamp} ${pid} ${place}] ${message}`)
  }

  /** Every start of a unit has a process id of its own. */
  restarted(unit: string): void {
    this.pids.delete(shortUnit(unit))
  }

  pid(unit: string): number {
    const name = shortUnit(unit)
    const known = this.pids.get(name)
    if (known !== undefined) return known
    const fresh = 1000 + (randomBytes(2).readUInt16BE() % 60_000)
    this.pids.set(name, fresh)
    return fresh
  }

  /** Drops what is older, as journald does when its space is used up. */
  vacuum(unit: string, before: number): void {
    const path = join(this.folder, `${shortUnit(unit)}.ndjson`)
    const kept = readFileSync(path, 'utf8')
      .split('\n')
      .filter(text => text !== '' && Number(text.split('"')[3]) >= before * 1000)
    writeFileSync(path, kept.map(text => `${text}\n`).join(''))
  }

  private append(unit: string, text: string): void {
    appendFileSync(join(this.folder, `${shortUnit(unit)}.ndjson`), text)
  }

  private entry(
    unit: string,
    identifier: string,
    pid: number,
    time: number,
    message: string,
    extra: Record<string, string> = {},
  ): string {
    this.sequence += 1
    const microseconds = Math.round(time * 1000)
    const boot = this.bootId.replaceAll('-', '')
    // bin/journalctl takes the time from the first field without parsing the line.
    const fields = {
      __REALTIME_TIMESTAMP: String(microseconds),
      __CURSOR: `s=${this.seed};i=${this.sequence.toString(16)};b=${boot};t=${microseconds.toString(16)}`,
      __MONOTONIC_TIMESTAMP: String(microseconds % 100_000_000_000),
      _BOOT_ID: boot,
      _HOSTNAME: this.hostname,
      _PID: String(pid),
      _SYSTEMD_UNIT: unit,
      SYSLOG_IDENTIFIER: identifier,
      PRIORITY: '6',
      _TRANSPORT: 'stdout',
      ...extra,
      MESSAGE: message,
    }
    return `${JSON.stringify(fields)}\n`
  }
}
