import { stormNow } from '../core/brakes.js'
import { asRead, cordonWords } from './cordon.js'
import { type HeadInput, latest } from './head-input.js'
import { progressText } from './progress.js'
import { code, joined, named, namedInShort, oneLine, person, strong, type Text, t } from './text.js'
import { near } from './time.js'

const inWords = (input: HeadInput): ((time: number) => string) => {
  const opened = input.incident.opened?.at
  return time => near(time, opened ?? time, input.timeZone)
}

const uncordonCommand = ({ incident }: HeadInput) => code(`kubectl uncordon ${incident.node}`)

/** Who lifts the cordon: whatever ends an incident, it does not lift one. Nothing where the node takes Pods. */
const standingCordon = (input: HeadInput): Text | undefined => {
  const { cordon, incident } = input
  if (cordon.whose === 'nobody') return undefined
  const words = t`${strong(incident.node)} is ${cordonWords(cordon, inWords(input))}`
  // No run is offered any more once it is repaired or closed.
  const run = ['watching', 'resolved'].includes(incident.status) ? '' : 'a repair run ends or '
  return cordon.whose === 'ours'
    ? t`${words}: no new Pod is scheduled there until ${run}somebody runs ${uncordonCommand(input)}.`
    : t`${words}: whoever set that must lift it.`
}

/** In front of what an approver is asked for. */
const cordonedSo = (input: HeadInput): Text => {
  const { cordon } = input
  const at = inWords(input)
  if (cordon.whose === 'nobody') return t``
  if (cordon.whose === 'ours' && cordon.since !== undefined && !cordon.unsure)
    return t`Cordoned ${at(cordon.since)}${asRead(cordon, at)}. `
  const words = cordonWords(cordon, at)
  return t`${words.charAt(0).toUpperCase()}${words.slice(1)}. `
}

/** Of a node among many that broke at once; the message about all of them says who must act. */
export const inStorm = ({ brakes, incident }: Pick<HeadInput, 'brakes' | 'incident'>): boolean =>
  brakes !== undefined && stormNow(brakes)?.nodes.includes(incident.node) === true

/** In front of all that would otherwise ask for a change. */
const pausedText = (input: HeadInput): Text => {
  const paused = input.brakes?.paused
  if (!paused) return t``
  const by =
    paused.at === undefined ? t`the operator` : t`${person(paused.by)} since ${inWords(input)(paused.at)}`
  return t`${strong('Changes are paused')} by ${by}: ${oneLine(paused.why)}. `
}

const pausedSo = (input: HeadInput): Text | undefined => {
  if (!input.brakes?.paused) return undefined
  const until =
    input.brakes.paused.at === undefined ? 'that setting is unset' : 'an approver types /cni resume'
  return t`${cordonedSo(input)}${pausedText(input)}No repair is offered until ${until}.`
}

/** In front of a run that had begun before: its next change waits for the end of the storm, its undo does not. */
const stormNote = (input: HeadInput): Text =>
  inStorm(input)
    ? t`${strong('Many nodes broke at once')}, this one among them: nothing more is changed here until that is over. `
    : t``

const stormText = (input: HeadInput): Text =>
  t`${cordonedSo(input)}${strong('Many nodes broke at once')}, this one among them: that is not its own fault, so no repair is offered here until that is over.`

const approverText = (input: HeadInput): Text => {
  const { incident, cordon, approversNamed } = input
  const verdict = latest(incident)?.verdict
  if (verdict && verdict.runbooks.length === 0)
    return verdict.escalateTo
      ? t`${cordonedSo(input)}No repair is offered for this. ${strong('Next')}: ${named(verdict.escalateTo)} must look at it.`
      : t`${cordonedSo(input)}No repair is offered for this. ${strong('Next')}: ${oneLine(verdict.next[0] ?? 'read the verdict below')}`
  const what =
    cordon.whose === 'nobody' ? 'cordon it now, then choose a repair.' : 'choose a repair, or hold.'
  return t`${cordonedSo(input)}${strong('Waiting for an approver')} (${namedInShort(approversNamed)}): ${what}`
}

const heldText = (input: HeadInput): Text => {
  const { cordon, incident } = input
  const { held, node } = incident
  const at = inWords(input)
  const by = t`Held by ${person(held?.by ?? 'cnibot')}${held ? ` since ${at(held.at)}` : ''}`
  const release = 'Release ends the hold and does not lift the cordon.'
  if (cordon.whose === 'ours' && !cordon.unsure)
    return t`${by}; ${node} stays cordoned until a repair run ends or somebody runs ${uncordonCommand(input)}${asRead(cordon, at)}. ${release}`
  const words = cordonWords(cordon, at)
  return cordon.whose === 'nobody'
    ? t`${by}; ${node} is ${words}, so Pods still land there. An approver cordons, repairs or releases it.`
    : t`${by}; ${node} is ${words}. ${release}`
}

/** The cordon that stands and the next count; nothing more only where neither is. */
const afterwards = (input: HeadInput, none: Text): Text => {
  const { recountAt } = input.incident
  const count = recountAt === undefined ? undefined : t`Next count ${inWords(input)(recountAt)}.`
  const parts = [standingCordon(input), count].filter(part => part !== undefined)
  return parts.length === 0 ? none : joined(parts, ' ')
}

/** Who must act, or what happens next by itself; the last line of every head. */
export const nextText = (input: HeadInput): Text => {
  const { incident, runs, timeZone, approversNamed } = input
  const { status, recountAt, escalated } = incident
  const at = inWords(input)
  const standing = standingCordon(input)
  switch (status) {
    case 'noticed':
    case 'open':
      return t`Collecting evidence; it is posted below, then the verdict.`
    case 'diagnosed':
      return inStorm(input) ? stormText(input) : (pausedSo(input) ?? approverText(input))
    case 'repairing': {
      const run = runs.find(each => each.run === incident.runs.at(-1)?.run)
      return run
        ? t`${stormNote(input)}${pausedText(input)}${progressText(run, timeZone, input.approversFor?.[run.runbook.risk] ?? approversNamed)}`
        : t`A run has been opened; its card follows below.`
    }
    case 'holding':
      return heldText(input)
    case 'watching': {
      const count =
        recountAt === undefined
          ? t`No count is planned: ${code(`/cni diagnose ${incident.node}`)} takes one.`
          : t`Counted again ${at(recountAt)}; then this is resolved or opened again.`
      return standing ? t`${standing} ${count}` : count
    }
    case 'escalated': {
      const who = t`${named(escalated?.to ?? 'platform')} must act. Escalated by ${person(escalated?.by ?? 'cnibot')}${escalated ? ` ${at(escalated.at)}` : ''}: ${oneLine(escalated?.why ?? '')}`
      return standing ? t`${who}. ${standing}` : who
    }
    case 'resolved':
      return afterwards(input, t`Nothing more to do.`)
  }
}
