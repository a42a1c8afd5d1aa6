import { createContext, useContext } from 'react'
import type { EnteredValues } from '../input.js'
import type { Block, Channel, Fields, Message, User, UserGroup, View } from '../types.js'

export type PageMessage = Message & { reply_count?: number; reply_users?: string[]; latest_reply?: string }

export interface Home {
  type: 'home'
  id: string
  blocks: Block[]
}

/** What the page knows of the workspace, for one person. */
export interface World {
  team: { id: string; name: string; domain: string }
  botId: string
  users: User[]
  groups: UserGroup[]
  channels: Channel[]
  messages: PageMessage[]
  view: View | null
  home: Home | null
  connections: number
}

export interface Outcome {
  acked?: boolean
  error?: string
  errors?: Record<string, string>
}

/** The world, who is looking at it, and what this person can do. */
export interface Session {
  world: World
  me: User
  act: (what: string, body: Fields) => Promise<Outcome>
}

export const SessionContext = createContext<Session | undefined>(undefined)

export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('outside of a session')
  return session
}

/** Where an element stands: clicks on it name this place. */
export interface Place {
  press(actionId: string, more: { value?: string | string[] }): Promise<Outcome>
  /** Set in modals and messages with inputs. */
  entered: EnteredValues
  enter(blockId: string, actionId: string, value: string | string[]): void
  errors: Record<string, string>
}

export const PlaceContext = createContext<Place | undefined>(undefined)

export const usePlace = (): Place => {
  const place = useContext(PlaceContext)
  if (place === undefined) throw new Error('outside of a message or view')
  return place
}
