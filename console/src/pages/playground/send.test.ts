import { expect, it } from 'vitest'
import type { RunEvent } from './fold.ts'
import { send } from './send.ts'

/** The events reported for this answer of the gateway. */
async function happenings(answer: () => Response | Promise<Response>, signal = new AbortController().signal): Promise<readonly RunEvent[]> {
  const seen: RunEvent[] = []
  await send({ model: 'm' }, { key: 'sk-1', signal, onEvent: (happening) => void seen.push(happening), fetch: async () => answer() })
  return seen
}

const stream = (...pieces: readonly (string | Uint8Array)[]): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
        controller.close()
      },
    }),
    { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-generation-id': 'gen-1' } },
  )

it('sends the key, and asks for routing metadata', async () => {
  let asked: RequestInit | undefined
  const call = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    asked = init
    return stream()
  }
  await send({ model: 'm' }, { key: 'sk-1', signal: new AbortController().signal, onEvent: () => undefined, fetch: call })
  expect(asked?.headers).toMatchObject({ authorization: 'Bearer sk-1', 'x-gateway-experimental-metadata': 'enabled' })
  expect(asked?.body).toBe('{"model":"m"}')
})

it('reads events wherever the network cuts them, even within a character', async () => {
  const bytes = new TextEncoder().encode(': still here\n\ndata: {"type":"a","delta":"é"}\n\ndata: nonsense\n\ndata: [DONE]\n\n')
  const cut = bytes.indexOf(0xc3) + 1
  expect(await happenings(() => stream(bytes.slice(0, cut), bytes.slice(cut)))).toEqual([
    { type: 'head', id: 'gen-1' },
    { type: 'event', event: { type: 'a', delta: 'é' } },
    { type: 'ended' },
  ])
})

it('reads an answer that is not a stream, and an error with its original text', async () => {
  expect(await happenings(() => Response.json({ id: 'gen-2', status: 'completed', output: [] }))).toEqual([
    { type: 'head', id: undefined },
    { type: 'whole', response: { id: 'gen-2', status: 'completed', output: [] } },
  ])
  expect((await happenings(() => new Response('no', { status: 403 }))).at(-1)).toEqual({ type: 'refused', status: 403, text: 'no' })
})

it.each(['{"message":"maintenance"}', 'null', '[]'])('takes %s for the answer of something else, such as a proxy', async (text) => {
  const message = expect.stringContaining('did not come from the gateway')
  expect((await happenings(() => new Response(text))).at(-1)).toMatchObject({ type: 'broken', message })
})

it('distinguishes a broken connection from one the user stopped', async () => {
  const fails = (): Promise<Response> => Promise.reject(new TypeError('network error'))
  expect(await happenings(fails)).toEqual([{ type: 'broken', message: 'The connection to the gateway broke: network error' }])
  expect(await happenings(fails, AbortSignal.abort())).toEqual([{ type: 'stopped' }])
  const foreign = await happenings(() => new Response('<html>Sign in</html>'))
  expect(foreign.at(-1)).toMatchObject({ type: 'broken', message: expect.stringContaining('did not come from the gateway') })
})
