import type { Response } from 'undici'
import { rawProblem } from './call.js'

/** What every object of the API carries and the loop needs. */
export interface Identified {
  metadata?: { uid?: string; resourceVersion?: string }
}

/** Why a list or watch ended other than cleanly. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  constructor(
    message: string,
    /**
     * `expired`: the history since our resourceVersion is gone, only a new list helps. `suspect`: it may be the
     * resourceVersion's fault. `refused`: the server would not even begin.
     */
    readonly why: 'expired' | 'suspect' | 'refused',
    /** The server's own wish. */
    readonly retryAfterMs?: number,
  ) {
    super(message)
  }
}

/** @throws Interrupted for any status but 200 */
export const insist = async (response: Response, what: string): Promise<void> => {
  if (response.status === 200) return
  const { status, said } = await rawProblem(response)
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw new Interrupted(
    `${what}: the API server answered ${status}${said === '' ? '' : `: ${said}`}`,
    status === 410 ? 'expired' : 'refused',
    ...(Number.isFinite(wait) ? [wait * 1_000] : []),
  )
}

export type Frame<O> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: O }
  | { type: 'ERROR'; object: { code?: number; reason?: string; message?: string } }

/** The frames of a watch, as many at once as arrived together. A torn last line is dropped: it comes again. */
export async function* framesOf<O>(response: Response): AsyncGenerator<Frame<O>[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines.filter(line => line.trim() !== '').map(line => parseFrame<O>(line))
  }
}

const parseFrame = <O>(line: string): Frame<O> => {
  try {
    return JSON.parse(line) as Frame<O>
  } catch {
    throw new Interrupted('the stream holds a line that is no JSON', 'suspect')
  }
}

/** 410 comes as an HTTP status and, on a watch that has been accepted, as this frame. */
export const interruptionOf = (status: { code?: number; reason?: string; message?: string }): Interrupted =>
  new Interrupted(
    `the watch was ended with ${status.code ?? 'an error'} ${status.reason ?? ''}`.trimEnd(),
    status.code === 410 || status.reason === 'Expired' || status.reason === 'Gone' ? 'expired' : 'suspect',
  )
