// react-dom brings no types of its own.
declare module 'react-dom/client' {
  import type { ReactNode } from 'react'

  export function createRoot(container: Element): { render(node: ReactNode): void; unmount(): void }
}
