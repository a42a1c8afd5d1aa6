import type { ReactNode } from 'react'
import { Avatar } from './message.js'
import { useSession } from './session.js'

export function Sidebar({
  current,
  onSwitch,
}: {
  current: string
  onSwitch: (user: string) => void
}): ReactNode {
  const { world, me } = useSession()
  const bot = world.users.find(user => user.id === world.botId)
  const people = world.users.filter(user => !user.is_bot && !user.deleted)
  const groupsOf = (id: string): string => {
    const groups = world.groups.filter(group => group.users.includes(id)).map(group => `@${group.handle}`)
    return groups.length === 0 ? '' : ` · in ${groups.join(', ')}`
  }
  return (
    <nav className="sidebar">
      <h1>{world.team.name}</h1>
      <h2>Channels</h2>
      {world.channels
        .filter(channel => !channel.is_im)
        .map(channel => (
          <a
            key={channel.id}
            href={`#${channel.id}`}
            className={channel.id === current ? 'current' : ''}
            data-channel-id={channel.id}
          >
            <span className="hash">{channel.is_private ? '🔒' : '#'}</span> {channel.name}
          </a>
        ))}
      <h2>Apps</h2>
      <a href="#home" className={current === 'home' ? 'current' : ''} data-testid="app-home">
        <Avatar name="app" isApp size="small" /> {bot?.real_name}
      </a>
      <p className="connections" data-testid="connections">
        <span className={world.connections > 0 ? 'dot on' : 'dot'} />
        {world.connections === 0 ? 'the app is not connected' : `app connected (${world.connections})`}
      </p>
      <label className="who">
        <span>You are</span>
        <select data-testid="user-switch" value={me.name} onChange={event => onSwitch(event.target.value)}>
          {people.map(user => (
            <option key={user.id} value={user.name}>
              {user.real_name}
              {groupsOf(user.id)}
            </option>
          ))}
        </select>
      </label>
    </nav>
  )
}
