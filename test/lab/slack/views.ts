import { parseView, type ViewInput } from './limits/views.js'
import { withIds } from './posting.js'
import type { Workspace } from './state.js'
import { type Block, type Fields, SlackError, type StateValues, type View } from './types.js'

const DEEPEST = 3

/** The open modals of each person, the topmost last, and everybody's App Home. */
export class Views {
  private readonly stacks = new Map<string, View[]>()
  private readonly homes = new Map<string, View>()
  private readonly workspace: Workspace
  private version = 0

  constructor(workspace: Workspace) {
    this.workspace = workspace
  }

  top(user: string): View | undefined {
    return this.stacks.get(user)?.at(-1)
  }

  home(user: string): View | undefined {
    return this.homes.get(user)
  }

  open(user: string, input: unknown): View {
    const view = this.viewOf(this.accept(input, 'modal'), null)
    this.stacks.set(user, [view])
    this.workspace.announce({ kind: 'view', user })
    return view
  }

  push(user: string, input: unknown): View {
    const stack = this.stacks.get(user) ?? []
    if (stack.length >= DEEPEST) throw new SlackError('push_limit_reached')
    const view = this.viewOf(this.accept(input, 'modal'), stack.at(-1) ?? null)
    this.stacks.set(user, [...stack, view])
    this.workspace.announce({ kind: 'view', user })
    return view
  }

  update(
    find: { id?: string | undefined; externalId?: string | undefined; hash?: string | undefined },
    input: unknown,
  ): View {
    const { user, view } = this.find(found => found.id === find.id || isExternal(found, find.externalId))
    if (find.hash !== undefined && find.hash !== view.hash) throw new SlackError('hash_conflict')
    const fresh = this.viewOf(this.accept(input, 'modal'), null)
    const { id, root_view_id, previous_view_id } = view
    Object.assign(view, fresh, { id, root_view_id, previous_view_id })
    this.workspace.announce({ kind: 'view', user })
    return view
  }

  publish(user: string, input: unknown): View {
    const view = this.viewOf(this.accept(input, 'home'), null)
    this.homes.set(user, view)
    this.workspace.announce({ kind: 'home', user })
    return view
  }

  of(user: string, viewId: string): View {
    const all = [...(this.stacks.get(user) ?? []), this.homes.get(user)]
    const found = all.find(view => view?.id === viewId)
    if (found === undefined) throw new Error(`no open view ${viewId} for ${user}`)
    return found
  }

  setState(view: View, values: StateValues): void {
    view.state = { values }
  }

  /** Takes the topmost view away, or all of them. */
  close(user: string, all: boolean): void {
    const stack = this.stacks.get(user) ?? []
    this.stacks.set(user, all ? [] : stack.slice(0, -1))
    this.workspace.announce({ kind: 'view', user })
  }

  private find(wanted: (view: View) => boolean): { user: string; view: View } {
    for (const [user, stack] of this.stacks) {
      const view = stack.find(wanted)
      if (view !== undefined) return { user, view }
    }
    throw new SlackError('not_found')
  }

  /** Throws what Slack would say is wrong with it; nothing is opened. */
  accept(input: unknown, type: 'modal' | 'home'): ViewInput {
    const parsed = parseView(input, type)
    if ('view' in parsed) return parsed.view
    throw new SlackError('invalid_arguments', { response_metadata: { messages: parsed.problems } })
  }

  private viewOf(input: ViewInput, previous: View | null): View {
    this.version += 1
    const id = this.workspace.ids.next('V')
    return {
      ...(input as Fields),
      id,
      type: input.type,
      blocks: withIds(this.workspace, input.blocks as Block[]),
      callback_id: input.callback_id ?? '',
      private_metadata: input.private_metadata ?? '',
      external_id: input.external_id ?? '',
      clear_on_close: input.type === 'modal' && input.clear_on_close === true,
      notify_on_close: input.type === 'modal' && input.notify_on_close === true,
      hash: `${Math.floor(this.workspace.now() / 1000)}.${this.version}`,
      state: { values: {} },
      root_view_id: previous?.root_view_id ?? id,
      previous_view_id: previous?.id ?? null,
      team_id: this.workspace.team.id,
      app_id: this.workspace.appId,
      bot_id: this.workspace.botId,
    }
  }
}

const isExternal = (view: View, externalId: string | undefined): boolean =>
  externalId !== undefined && externalId !== '' && view.external_id === externalId
