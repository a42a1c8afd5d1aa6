import { useEffect, useState } from 'react'

/** `#C123`, `#C123/<ts>` with a thread open, `#C123/<ts>/<ts>` with one reply pointed at, `#home`. */
export interface Route {
  channel: string
  thread?: string
  reply?: string
  home: boolean
}

export function parseRoute(hash: string): Route {
  const [channel = '', thread, reply] = hash.replace(/^#/, '').split('/')
  const place = { channel, home: channel === 'home' }
  if (thread === undefined) return place
  return reply === undefined ? { ...place, thread } : { ...place, thread, reply }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return route
}

export const go = (...parts: string[]): void => {
  location.hash = parts.join('/')
}
