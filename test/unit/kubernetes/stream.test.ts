import type { V1Pod } from '@kubernetes/client-node'
import { Response } from 'undici'
import { type Frame, framesOf, Interrupted, interruptionOf } from '../../../src/adapters/kubernetes/stream.js'
import { watchedPod } from '../../../src/adapters/kubernetes/translate.js'
import type { Wire } from '../../../src/adapters/kubernetes/wire.js'
import { captured } from './captured.js'

/** The text in pieces of so many bytes, as a network may cut it. */
const inPieces = (text: string, size: number): Response => {
  const bytes = new TextEncoder().encode(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.slice(n * size, (n + 1) * size),
  )
  return new Response(
    new ReadableStream({
      pull: controller => {
        const piece = pieces.shift()
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
    }),
  )
}
const all = async (response: Response): Promise<Frame<Wire<V1Pod>>[]> => {
  const frames: Frame<Wire<V1Pod>>[] = []
  for await (const some of framesOf<Wire<V1Pod>>(response)) frames.push(...some)
  return frames
}

describe('a captured watch stream', () => {
  const text = captured.text('kube-watch/pods.ndjson')

  test.each([7, 1_000, 1_000_000])('cut every %d bytes gives the same frames', async size => {
    const frames = await all(inPieces(text, size))
    expect(frames).toHaveLength(18)
    expect(frames.filter(({ type }) => type === 'BOOKMARK')).toHaveLength(1)
    const story = frames.flatMap(frame => {
      if (frame.type === 'ERROR' || frame.type === 'BOOKMARK') return []
      const pod = watchedPod(frame.object)
      return pod.name === 'log-shipper-q29hj' ? `${frame.type} ${pod.phase} ${pod.sandboxReady}` : []
    })
    expect(story[0]).toBe('ADDED Pending undefined')
    expect(story).toContain('MODIFIED Pending false')
    expect(story).toContain('MODIFIED Running true')
    expect(story.at(-1)).toMatch(/^DELETED Failed/)
  })
  test('names with letters of several bytes survive a cut inside a letter', async () => {
    const line = `${JSON.stringify({ type: 'ADDED', object: { metadata: { uid: 'u', name: 'zählér–名' } } })}\n`
    const [frame] = await all(inPieces(line, 1))
    expect(frame).toMatchObject({ object: { metadata: { name: 'zählér–名' } } })
  })
  test('a torn last line is dropped', async () => {
    expect(await all(inPieces(text.slice(0, -200), 4_096))).toHaveLength(17)
  })
  test('a line that is no JSON ends the stream as suspect', async () => {
    await expect(all(inPieces('{"type":"ADDED","object":{}}\n<html>\n', 64))).rejects.toMatchObject({
      name: 'Interrupted',
      why: 'suspect',
    })
  })
  test('the captured ERROR frame of a compacted history asks for a list', async () => {
    const [frame] = await all(inPieces(captured.text('kube-watch/too-old.ndjson'), 64))
    if (frame?.type !== 'ERROR') throw new Error('the fixture holds no ERROR frame')
    const interruption = interruptionOf(frame.object)
    expect(interruption).toBeInstanceOf(Interrupted)
    expect(interruption).toMatchObject({ why: 'expired', message: 'the watch was ended with 410 Expired' })
  })
})
