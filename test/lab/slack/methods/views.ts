import { missing } from '../args.js'
import type { Method } from '../parts.js'
import { SlackError } from '../types.js'

const open: Method = (args, { triggers, views }) => {
  const view = args.json('view', 'invalid_arguments') ?? raise('view')
  // A view that is wrong does not use up the trigger.
  views.accept(view, 'modal')
  return { view: views.open(triggers.redeem(args.required('trigger_id')), view) }
}

const push: Method = (args, { triggers, views }) => {
  const view = args.json('view', 'invalid_arguments') ?? raise('view')
  views.accept(view, 'modal')
  return { view: views.push(triggers.redeem(args.required('trigger_id')), view) }
}

const update: Method = (args, { views }) => {
  const find = { id: args.text('view_id'), externalId: args.text('external_id'), hash: args.text('hash') }
  if (find.id === undefined && find.externalId === undefined) throw missing('view_id')
  return { view: views.update(find, args.json('view', 'invalid_arguments') ?? raise('view')) }
}

const publish: Method = (args, { views, workspace }) => {
  const user = args.required('user_id')
  if (!workspace.users.some(each => each.id === user)) throw new SlackError('user_not_found')
  return { view: views.publish(user, args.json('view', 'invalid_arguments') ?? raise('view')) }
}

const raise = (name: string): never => {
  throw missing(name)
}

export const viewMethods: Record<string, Method> = {
  'views.open': open,
  'views.push': push,
  'views.update': update,
  'views.publish': publish,
}
