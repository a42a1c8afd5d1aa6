import { useEffect, useReducer } from 'react'
import type { View } from '../types.js'
import type { Home, PageMessage, World } from './session.js'

type Incoming =
  | ({ kind: 'snapshot' } & World)
  | { kind: 'message'; message: PageMessage }
  | { kind: 'removed'; channel: string; ts: string }
  | { kind: 'view'; view: View | null }
  | { kind: 'home'; home: Home | null }
  | { kind: 'connections'; connections: number }

const at = (message: { channel: string; ts: string }): string => `${message.channel}/${message.ts}`

export function applyIncoming(world: World | undefined, incoming: Incoming): World | undefined {
  if (incoming.kind === 'snapshot') return incoming
  if (world === undefined) return undefined
  switch (incoming.kind) {
    case 'message': {
      const known = world.messages.some(each => at(each) === at(incoming.message))
      const messages = known
        ? world.messages.map(each => (at(each) === at(incoming.message) ? incoming.message : each))
        : [...world.messages, incoming.message]
      return { ...world, messages }
    }
    case 'removed':
      return { ...world, messages: world.messages.filter(each => at(each) !== at(incoming)) }
    case 'view':
      return { ...world, view: incoming.view }
    case 'home':
      return { ...world, home: incoming.home }
    case 'connections':
      return { ...world, connections: incoming.connections }
    default: {
      const never: never = incoming
      return never
    }
  }
}

/** Follows the workspace as this person; the browser reconnects by itself, and each connection starts with a snapshot. */
export function useWorld(user: string): World | undefined {
  const [world, apply] = useReducer(applyIncoming, undefined)
  useEffect(() => {
    const source = new EventSource(`/page/stream?user=${encodeURIComponent(user)}`)
    source.onmessage = event => apply(JSON.parse(event.data as string) as Incoming)
    return () => source.close()
  }, [user])
  return world
}
