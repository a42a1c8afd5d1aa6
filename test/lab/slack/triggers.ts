import type { Faults } from './faults.js'
import type { Workspace } from './state.js'
import { SlackError } from './types.js'

/** Trigger ids: good once, and for three seconds of real time. */
export class Triggers {
  private readonly issued = new Map<string, { user: string; until: number; used: boolean }>()
  private readonly workspace: Workspace
  private readonly faults: Faults
  private readonly lifetime: number

  constructor(workspace: Workspace, faults: Faults, lifetime: number) {
    this.workspace = workspace
    this.faults = faults
    this.lifetime = lifetime
  }

  issue(user: string): string {
    const id = this.workspace.ids.next('trigger.')
    const until = this.faults.takeExpired() ? 0 : performance.now() + this.lifetime
    this.issued.set(id, { user, until, used: false })
    return id
  }

  /** The user whose click this was. */
  redeem(id: string): string {
    const trigger = this.issued.get(id)
    if (trigger === undefined) throw new SlackError('invalid_trigger_id')
    if (trigger.used) throw new SlackError('exchanged_trigger_id')
    if (performance.now() > trigger.until) throw new SlackError('expired_trigger_id')
    trigger.used = true
    return trigger.user
  }
}
