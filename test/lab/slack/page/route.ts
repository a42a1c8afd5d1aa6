import { useEffect, useState } from 'react'

/** `#C123`, `#C123/1700000000.000001` with a thread open, `#home`. */
export interface Route {
  channel: string
  thread?: string
  home: boolean
}

export function parseRoute(hash: string): Route {
  const [channel = '', thread] = hash.replace(/^#/, '').split('/')
  return { channel, home: channel === 'home', ...(thread === undefined ? {} : { thread }) }
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
