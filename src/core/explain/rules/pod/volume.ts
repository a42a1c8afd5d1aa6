import type { Report } from '../../../report/report.js'
import { type Spoken, spokenIn } from '../../../report/spoken.js'
import { unmountedVolumes, volumeNamed } from '../../../report/volumes-waited.js'
import { podRowsOf } from '../../../report/network-agents.js'
import { quoted } from '../../../report/ask.js'
import { type CauseRule, clue } from '../../rule.js'
import { ofCode, ofKind, told } from '../plugin-clues.js'

/** Agents ask for objects in passing (leader election, optional settings): only the kubelet's words prove it. */
const byKubelet = ({ from, text }: Spoken): boolean =>
  from === 'event' || from === 'journal' || /\b(?:Warning|kubelet)\b/.test(text.slice(0, 2_000))

const missingObject: CauseRule = {
  name: 'object-of-pod-missing',
  source: 'kubelet: FailedMount and Failed (CreateContainerConfigError) name the Secret, ConfigMap or key',
  read: report =>
    ofKind(report, 'object-missing')
      .slice(0, 5)
      .map(message => {
        const said = message.text.slice(0, 8_192)
        const way = /forbidden/i.test(said) ? 'forbidden' : /\bkeys?\b/i.test(said) ? 'key' : undefined
        const named = /["'`](?: not found)|\bkeys? /i.test(said)
        return {
          cause: 'secret-or-configmap-missing',
          ...(way === undefined ? {} : { way }),
          for: [clue(told(message), byKubelet(message) && named ? 'proves' : 'supports')],
          missing: named ? [] : ['the events of the Pod: which Secret, ConfigMap or key it is'],
        }
      }),
}

const configError: CauseRule = {
  name: 'pods-with-config-error',
  source: 'kubelet: CreateContainerConfigError stands for a Secret, ConfigMap or key that cannot be read',
  read: report => {
    const row = podRowsOf(report).find(({ status }) => /CreateContainerConfigError/i.test(status))
    return row === undefined
      ? []
      : [
          {
            cause: 'secret-or-configmap-missing',
            for: [clue(`${quoted(row.name, 80)} is ${quoted(row.status, 40)}`, 'supports')],
            missing: ['the events of that Pod: which Secret, ConfigMap or key it is'],
          },
        ]
  },
}

/** Volumes that are missing for another reason than a Secret or ConfigMap, as far as it was told. */
const explainedByObjects = (report: Report, { text }: Spoken): boolean => {
  const named = ofKind(report, 'object-missing').map(each => volumeNamed(each.text))
  if (named.length === 0) return false
  const waiting = unmountedVolumes(text)
  return waiting.length === 0 || named.includes(undefined) || waiting.every(name => named.includes(name))
}

const ways: [string, RegExp][] = [
  ['attached-elsewhere', /multi-attach|exclusively attached|already used by|still (?:attached|in use)/i],
  [
    'helper',
    /helper program|bad option|unknown filesystem|not found in the list of registered csi|executable file not found|mount\.\w{1,20}: (?:command )?not found|modprobe/i,
  ],
  ['node-program', /csi|driver|deadline exceeded|plugin/i],
]
const wayOf = (text: string): string | undefined =>
  ways.find(([, pattern]) => pattern.test(text.slice(0, 8_192)))?.[0]

const failed: CauseRule = {
  name: 'volume-fails',
  source: 'attach/detach controller and kubelet: FailedAttachVolume, FailedMount, FailedMapVolume',
  read: report =>
    ofCode(report, 'VOLUME_FAIL', 'VOLUME_ATTACHED_ELSEWHERE')
      .filter(
        each => !/unable to (?:attach or )?mount volumes/i.test(each.text) && !each.text.includes('cache: '),
      )
      .slice(0, 5)
      .map(message => {
        const way = wayOf(message.text)
        return {
          cause: 'volume-mount',
          ...(way === undefined ? {} : { way }),
          for: [clue(told(message), message.from === 'agent-log' ? 'supports' : 'proves')],
        }
      }),
}

const waits: CauseRule = {
  name: 'volume-waited-for',
  source: "kubelet: `unmounted volumes=` names what is missing, `unattached volumes=` all of the Pod's",
  read: report => {
    const waiting = spokenIn(report).filter(
      ({ reading, text }) =>
        reading.code === 'VOLUME_WAIT' ||
        /unable to (?:attach or )?mount volumes/i.test(text.slice(0, 8_192)),
    )
    const last = waiting.at(-1)
    if (last === undefined) return []
    const missing = [
      'the log of the storage driver on that node, and the first FailedMount event of the volume',
    ]
    if (explainedByObjects(report, last))
      return [
        {
          cause: 'volume-mount',
          for: [clue('the kubelet waits for a volume', 'hints')],
          against: [clue('a missing Secret or ConfigMap accounts for the wait', 'supports')],
        },
      ]
    const names = unmountedVolumes(last.text)
    const synced = ofCode(report, 'OBJECT_NOT_SYNCED').map(each => volumeNamed(each.text))
    const left = names.filter(name => !synced.includes(name))
    const says = `the kubelet still waits for ${quoted((left.length > 0 ? left : names).join(', ') || 'volumes', 100)}`
    const only = names.length > 0 && left.length === 0
    return [{ cause: 'volume-mount', for: [clue(says, only ? 'hints' : 'supports')], missing }]
  },
}

const notSynced: CauseRule = {
  name: 'object-cache-late',
  source:
    'kubelet: it waits for its watch of a Secret or ConfigMap; it tries again by itself (kubernetes#105204)',
  read: report => {
    const [message] = ofCode(report, 'OBJECT_NOT_SYNCED')
    return message === undefined
      ? []
      : [
          {
            cause: 'volume-mount',
            for: [clue(told(message), 'hints')],
            missing: ['whether the message comes again, and whether the named object exists'],
          },
        ]
  },
}

export const volumeRules: CauseRule[] = [missingObject, configError, failed, waits, notSynced]
