import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { Blocks } from './blocks.js'
import { Composer } from './composer.js'
import { Conversation } from './conversation.js'
import { Modal } from './modal.js'
import { go, type Route, useRoute } from './route.js'
import { type Outcome, PlaceContext, SessionContext, useSession } from './session.js'
import { Sidebar } from './sidebar.js'
import { useWorld } from './stream.js'

const remembered = 'local-slack-user'

/** Who looks at the page is a setting of the page: every click is sent in this person's name. */
export function App(): ReactNode {
  const [user, setUser] = useState(() => sessionStorage.getItem(remembered) ?? '')
  const world = useWorld(user)
  const route = useRoute()
  const session = useMemo(() => {
    const me = world?.users.find(each => each.name === user) ?? world?.users.find(each => !each.is_bot)
    if (world === undefined || me === undefined) return undefined
    const act = async (what: string, body: object): Promise<Outcome> => {
      const headers = { 'content-type': 'application/json' }
      const text = JSON.stringify({ user: me.id, ...body })
      return (await (await fetch(`/page/${what}`, { method: 'POST', headers, body: text })).json()) as Outcome
    }
    return { world, me, act }
  }, [world, user])
  if (session === undefined) return <p className="loading">Loading …</p>
  const channel = route.channel === '' ? (session.world.channels[0]?.id ?? '') : route.channel
  return (
    <SessionContext.Provider value={session}>
      <div className={route.thread === undefined ? 'app' : 'app with-thread'} data-user={session.me.name}>
        <Sidebar
          current={channel}
          onSwitch={name => {
            sessionStorage.setItem(remembered, name)
            setUser(name)
          }}
        />
        {route.home ? <HomeTab /> : <ChannelPane channel={channel} />}
        {!route.home && route.thread !== undefined && (
          <ThreadPane
            key={`${route.thread}/${route.reply}`}
            route={{ ...route, channel }}
            thread={route.thread}
          />
        )}
        {session.world.view !== null && <Modal key={session.world.view.id} view={session.world.view} />}
      </div>
    </SessionContext.Provider>
  )
}

function ChannelPane({ channel: id }: { channel: string }): ReactNode {
  const { world } = useSession()
  const channel = world.channels.find(each => each.id === id)
  if (channel === undefined) return <main className="pane">No channel {id} here.</main>
  const messages = world.messages.filter(each => each.channel === id && each.thread_ts === undefined)
  // A root carries its own ts as thread_ts once it has replies.
  const roots = world.messages.filter(each => each.channel === id && each.thread_ts === each.ts)
  const shown = [...messages, ...roots].toSorted((a, b) => a.ts.localeCompare(b.ts))
  return (
    <main className="pane" data-testid="channel-pane">
      <header className="pane-head">
        <b># {channel.name}</b>
        <span>{channel.topic}</span>
      </header>
      <Conversation key={id} messages={shown} thread={false} />
      <Composer channel={id} placeholder={`Message #${channel.name}`} />
    </main>
  )
}

function ThreadPane({ route, thread }: { route: Route; thread: string }): ReactNode {
  const { world } = useSession()
  const channel = world.channels.find(each => each.id === route.channel)
  const inChannel = world.messages.filter(each => each.channel === route.channel)
  const messages = inChannel
    .filter(each => each.ts === thread || each.thread_ts === thread)
    .toSorted((a, b) => a.ts.localeCompare(b.ts))
  return (
    <aside className="pane thread" data-testid="thread-pane">
      <header className="pane-head">
        <b>Thread</b>
        <span># {channel?.name}</span>
        <button type="button" className="icon" aria-label="Close thread" onClick={() => go(route.channel)}>
          ✕
        </button>
      </header>
      {messages.length === 0 ? (
        <p className="loading">This thread is not here.</p>
      ) : (
        <Conversation messages={messages} thread target={route.reply} />
      )}
      <Composer channel={route.channel} thread={thread} placeholder="Reply…" />
    </aside>
  )
}

function HomeTab(): ReactNode {
  const { world, act } = useSession()
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening the tab is told once, not on every change
  useEffect(() => void act('home', {}), [])
  const view = world.home
  const place = {
    press: (actionId: string, more: object) => act('press-view', { viewId: view?.id, actionId, ...more }),
    entered: {},
    enter: () => undefined,
    errors: {},
  }
  return (
    <main className="pane" data-testid="home">
      <header className="pane-head">
        <b>Home</b>
      </header>
      <div className="home">
        {view === null ? (
          <p className="loading">The app has published no Home yet.</p>
        ) : (
          <PlaceContext.Provider value={place}>
            <Blocks blocks={view.blocks} />
          </PlaceContext.Provider>
        )}
      </div>
    </main>
  )
}
