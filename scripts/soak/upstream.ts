import {
  chatEvents,
  chatJson,
  chatText,
  reset,
  silence,
  startFakeUpstream,
  status,
  stream,
  type FakeUpstream,
  type StreamOptions,
  type Reply,
} from '../../src/testing/fake-upstream.ts'

/** The behaviours of the upstream; the prompt of a call begins with one of them. */
export const BEHAVIOURS = ['plain', 'long', 'tool', 'rate-limited', 'broken', 'reset', 'cut', 'garbled', 'stalled', 'silent'] as const
export type Behaviour = (typeof BEHAVIOURS)[number]

const PIECES = Array.from({ length: 60 }, (_, i) => `word ${i} of a long answer that comes in many pieces, `)
const long = chatText(...PIECES)
const toolCall = [
  chatEvents.role(),
  chatEvents.call(0, 'call_1', 'look_up', ''),
  chatEvents.args(0, '{"city":'),
  chatEvents.args(0, '"Delft"}'),
  chatEvents.finish('tool_calls'),
  chatEvents.usage(),
  chatEvents.done(),
]

/** The end of a stream that does not end well. */
// oxlint-disable-next-line unicorn/no-thenable -- the name of the option; nobody awaits it
const ending = (last: 'reset' | 'hang'): StreamOptions => ({ then: last })

const streamed: { readonly [B in Behaviour]: Reply } = {
  plain: stream(chatText('Hello ', 'there.')),
  long: stream(long, { everyMs: 5 }),
  tool: stream(toolCall),
  'rate-limited': status(429, { error: { message: 'slow down' } }, { 'retry-after': '0' }),
  broken: status(500, { error: { message: 'broken' } }),
  reset: reset(),
  cut: stream(long.slice(0, 12), ending('reset')),
  garbled: stream([...long.slice(0, 5), 'data: {"not json\n\n', ...long.slice(5, 20), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]),
  stalled: stream(long.slice(0, 8), ending('hang')),
  silent: silence(),
}
const replies: Partial<Record<Behaviour, Reply>> = {
  plain: status(200, chatJson('Hello there.')),
  long: status(200, chatJson(PIECES.join(''))),
  garbled: status(200, '{"not json'),
}

export async function startSoakUpstream(): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream((request, response) => {
    // The soak does not need the requests seen, and they would pile up.
    ;(upstream.requests as unknown[]).length = 0
    const behaviour = BEHAVIOURS.find((each) => JSON.stringify(request.body['messages']).includes(`[${each}]`)) ?? 'plain'
    const reply = (request.body['stream'] === true ? undefined : replies[behaviour]) ?? streamed[behaviour]
    return reply(request, response)
  })
  return upstream
}
