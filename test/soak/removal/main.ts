/**
 * The removal soak: does the removal of leaked addresses ever free a living one, whatever happens beside it?
 *
 * Each store is a node of its own: the real host-local plugin, a runtime that writes its record, asks for the address and
 * lists the sandbox seconds to minutes later (by the node's clock, which the soak moves), an API with the node's Pods, and
 * an acting process that is the worker's own flow (plan, approval, second reading, script) with its history in files.
 * A round is a burst of Pods and one removal, while Pods come and go, the runtime restarts with or without loss of what it
 * knew, the node's clock jumps, the session is cut, the script dies or stands still at any statement, and the acting
 * process dies by SIGKILL at any place where it touches something outside itself; then it is started again and goes on
 * from its history. Which Pod lives is known from the churn alone (`truth.ts`).
 *
 * `--script FILE` measures another tool on the same rounds: see `--help` for how it is called.
 */
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { sum } from './counts.js'
import { standingStill } from './gate.js'
import { Lane, makeFolder, type Soak } from './lane.js'
import { isClean, report, type Soaked } from './report.js'
import { playLast, playRound } from './round.js'
import type { RuntimeKind } from './runtime-kinds.js'
import { readStatements, withLine } from './statements.js'

const kinds = ['containerd-1', 'containerd-2', 'crio'] as const
const runtimes = [...kinds, 'mixed'] as const

interface Options {
  rounds: number
  seed: number
  stores: number
  runtime: string
  script?: string
  json?: boolean
}

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

const convention = `
Another tool's script is run as \`FILE STORE\` (by sh when it is not executable), where STORE is the folder of the
network's address files, on a PATH with \`crictl\` and \`ctr\` of the node in front. It is run once a round while Pods come
and go, where our own removal would act; its exit code does not matter. Only files of dead Pods may then be gone.

Exit code 1: a live address was freed or given out twice, or an approved orphan was left behind.
Exit code 2: the soak itself did not work; its counts are of what it had done by then.`

const readOptions = (argv: string[]): Options => {
  const program = new Command('soak:removal')
    .description(
      'Removes leaked addresses again and again while real ADDs and DELs run, and kills everything meanwhile.',
    )
    .option('--rounds <n>', 'bursts of Pods with one removal each', whole, 1_000)
    .option('--seed <n>', 'the same seed decides the same', whole, 1)
    .option('--stores <n>', 'independent nodes at once', whole, 6)
    .option('--runtime <kind>', runtimes.join(', '), 'mixed')
    .option('--script <file>', "measure another tool's clean-up script on the same rounds")
    .option('--json', 'print the counts as JSON')
    .addHelpText('after', convention)
    .showHelpAfterError()
  const options = program.parse(argv).opts<Options>()
  if (!runtimes.some(runtime => runtime === options.runtime))
    program.error(`error: --runtime must be one of ${runtimes.join(', ')}`)
  if (options.rounds < 1 || options.stores < 1 || options.stores > 16)
    program.error('error: --rounds must be at least 1, --stores from 1 to 16')
  if (options.script !== undefined && !existsSync(options.script))
    program.error(`error: --script: there is no file ${options.script}`)
  return options
}

/** The shipped script once for each of its statements: dying there, and standing still there. */
const writeVariants = (
  here: string,
  folder: string,
): Pick<Soak, 'statements' | 'script' | 'killedAt' | 'stillAt'> => {
  const script = join(here, 'remove-orphans.sh')
  const statements = readStatements(script)
  const path = (what: string) => (index: number) => join(folder, `${what}-${index}.sh`)
  const [killedAt, stillAt] = [path('killed'), path('still')]
  for (const index of [...statements.remove, ...statements.restore]) {
    writeFileSync(killedAt(index), withLine(statements, index, 'kill -9 $$'))
    writeFileSync(stillAt(index), withLine(statements, index, standingStill))
    chmodSync(killedAt(index), 0o755)
  }
  return { statements, script, killedAt, stillAt }
}

const memory = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir())

const progress = (lanes: readonly Lane[], options: Options, began: number): NodeJS.Timeout => {
  const live = process.stderr.isTTY
  return setInterval(
    () => {
      const { rounds, freed, left, addressesRemoved } = sum(lanes.map(({ counts }) => counts))
      const speed = rounds / ((performance.now() - began) / 1000)
      const line = `${rounds} of ${options.rounds} rounds, ${speed.toFixed(1)} a second, ${addressesRemoved} addresses removed, ${freed.length} live freed, ${left.length} left`
      process.stderr.write(live ? `\r${line}\u001b[K` : `${line}\n`)
    },
    live ? 500 : 60_000,
  )
}

/** Long, since it is the list of what a soak consists of. */
const soak = async (options: Options): Promise<Soaked> => {
  const here = import.meta.dirname
  const folder = mkdtempSync(join(memory(), 'cnibot-soak-'))
  const parts = {
    seed: options.seed,
    folder,
    programs: join(here, 'programs'),
    labPrograms: join(here, 'lab-programs'),
    halfMoved: join(here, 'programs/half-moved'),
    actor: join(here, 'actor.mjs'),
    other: options.script === undefined ? undefined : resolve(options.script),
    ...writeVariants(here, makeFolder(join(folder, 'scripts'))),
  }
  const thrown = new Promise<never>((_, reject) => process.once('unhandledRejection', reject))
  let broken: string | undefined
  // The rounds that have begun are played to their end: a script held at a gate would keep this process from exiting.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      broken ??= `stopped by ${signal}`
    })
  const began = performance.now()
  const kindOf = (lane: number): RuntimeKind =>
    kinds.find(kind => kind === options.runtime) ?? kinds[lane % kinds.length] ?? 'containerd-1'
  const count = Math.min(options.stores, options.rounds)
  const lanes = Array.from({ length: count }, (_, lane) => new Lane(parts, kindOf(lane), lane))
  const timer = progress(lanes, options, began)
  const play = async (lane: Lane): Promise<void> => {
    await lane.begin()
    // Each store plays its own rounds, so that a round meets the same kind of runtime every time.
    for (let round = 1 + lane.number; round <= options.rounds && !broken; round += count)
      await playRound(lane, round)
    if (parts.other === undefined && !broken) await playLast(lane, options.rounds + 1 + lane.number)
    await lane.end()
  }
  try {
    await Promise.race([Promise.all(lanes.map(play)), thrown])
  } catch (error) {
    broken = error instanceof Error ? (error.stack ?? error.message) : String(error)
  } finally {
    clearInterval(timer)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const counts = sum(lanes.map(lane => lane.counts))
  const { seed, runtime, script: other } = options
  const digest = createHash('sha256')
    .update(readFileSync(other ?? parts.script))
    .digest('hex')
  return {
    counts,
    seed,
    runtimes: runtime,
    stores: count,
    wallMs: performance.now() - began,
    other,
    digest,
    statements: parts.statements.remove.length,
    broken,
  }
}

const options = readOptions(process.argv)
const soaked = await soak(options)
process.stdout.write(options.json === true ? `${JSON.stringify(soaked)}\n` : `${report(soaked)}\n`)
process.exit(soaked.broken !== undefined ? 2 : isClean(soaked) ? 0 : 1)
