import { removeOrphansPath } from '../../../src/adapters/ssh/scripts.js'
import type { Allocation } from '../../../src/core/evidence/bundle.js'
import type { Plan, Undone } from '../../../src/core/runbook/plan.js'
import { fenced } from '../../../src/flows/fenced.js'
import type { Clock, Cluster, CommandResult, NodeShell } from '../../../src/ports.js'
import { undoStep } from '../../../src/steps/index.js'
import type { StepContext } from '../../../src/steps/step.js'
import type { LabNode } from '../../lab/nodes/index.js'
import { fold, opened } from '../../unit/runbook/runs.js'
import { leakingNode } from '../../unit/leaking-node.js'
import { environment, look, orderArgs, run, storeDir } from './on-node.js'
import { stepSettings } from '../../fakes/settings.js'

/** The script under `argv`, as the repairing user of the node would start it. */
export const localShell = (
  node: () => LabNode,
  argvOf: () => string[] | Error = () => ['dash', removeOrphansPath],
): NodeShell => ({
  shown: ({ args }) => ['dash', removeOrphansPath, ...args].join(' '),
  run: async (_node, { args, stdin }): Promise<CommandResult> => {
    const argv = argvOf()
    if (argv instanceof Error) throw argv
    const { code, stdout, stderr } = await run([...argv, ...args], stdin ?? '', environment(node()))
    const nothing = { signal: undefined, timedOut: false, truncated: false, durationMs: 1 }
    return { shown: args.join(' '), exitCode: code ?? undefined, stdout, stderr, ...nothing }
  },
})

/** Undo as the run's worker calls it, for what was removed under the op `run-1`. */
export const undoOnNode = (how: {
  node: LabNode
  clock: Clock
  cluster: Cluster
  shell: NodeShell
  fence: number
  entries: readonly Allocation[]
}): Promise<Undone> => {
  const { node, clock, cluster, shell, fence, entries } = how
  const plan: Plan<'remove-orphans'> = {
    kind: 'remove-orphans',
    title: 'Remove addresses',
    facts: [],
    lists: [],
    commands: [],
    nothingToDo: false,
    data: {
      network: 'k8s-pod-network',
      dir: storeDir,
      lockInode: 0,
      entries: entries.map(entry => ({ ...entry, why: 'its sandbox is gone' })),
      olderThanMs: 0,
      bundleId: 'b',
      actFrom: undefined,
      command: { script: 'remove-orphans', args: orderArgs(node) },
    },
    readAt: 0,
  }
  const unused = (): never => {
    throw new Error('an undo asks for nothing of that')
  }
  const ctx: StepContext = {
    run: { ...fold(opened()), bootId: node.bootId },
    index: 0,
    clock,
    settings: { ...stepSettings, deadlineMs: 1_000 },
    signal: new AbortController().signal,
    // What an undo looks at where the node does not tell of all: the store.
    measure: async () => ({
      bundle: { ...leakingNode(1, 0), ...(await look(node, { args: ['--light'] })) },
      id: 'b',
    }),
    bundle: unused,
    progress: unused,
    ...fenced({ cluster, shell }, { fence, inCharge: async () => undefined }),
  }
  return undoStep(plan, undefined, ctx)
}
