import type { RunEvent } from '../../../src/core/runbook/run.js'
import { type DesiredMessage, renderThread, type ThreadInput } from '../../../src/view/thread.js'
import { minute, now } from '../leaking-node.js'
import { runOf } from './run-states.js'
import { diagnosedEvents, incidentOf } from './states.js'
import { opener, storyBundle, timeZone } from './story-bundle.js'

/** The whole thread of the story's incident with this one run of it. */
export const drawnWith = (run: RunEvent[], more: Partial<ThreadInput> = {}): DesiredMessage[] =>
  renderThread({
    cluster: 'prod-eu1',
    incident: incidentOf([
      ...diagnosedEvents,
      { at: now + 2 * minute, by: opener, type: 'RunOpened', run: 'r-1', runbook: 'leak-reconcile' },
    ]),
    runs: [runOf(run)],
    bundles: new Map([['b-1', storyBundle()]]),
    approversNamed: '@sre-oncall',
    now,
    timeZone,
    ...more,
  })
