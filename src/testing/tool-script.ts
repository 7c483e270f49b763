import { checkWire } from './check-wire.ts'
import { chatEvents, chatText, stream, type Reply } from './fake-upstream.ts'
import type { TestGateway } from './start-gateway.ts'

type Json = Record<string, unknown>

/** A turn of a chat model that calls these functions, after some text if given. */
export const calls = (...made: readonly (readonly [name: string, args: unknown])[]): Reply => callsAfter('', ...made)

export const callsAfter = (words: string, ...made: readonly (readonly [name: string, args: unknown])[]): Reply =>
  stream([
    chatEvents.role(),
    ...(words === '' ? [] : [chatEvents.text(words)]),
    ...made.map(([name, args], n) => chatEvents.call(n, `call_${name}_${n}`, name, typeof args === 'string' ? args : JSON.stringify(args))),
    chatEvents.finish('tool_calls'),
    chatEvents.usage(),
    chatEvents.done(),
  ])

export const says = (...pieces: readonly string[]): Reply => stream(chatText(...pieces))

/** One answer of the gateway with its metadata, from either form; a stream is checked event by event. */
export async function askGateway(
  gateway: TestGateway,
  body: Json,
  streamed: boolean,
): Promise<Json & { readonly output: readonly Json[]; readonly gateway_metadata: Json }> {
  const response = await gateway.respond(
    { model: 'acme/small', input: 'hi', ...body, stream: streamed },
    { headers: { 'x-gateway-experimental-metadata': 'enabled' } },
  )
  const text = await response.text()
  if (response.status !== 200) throw new Error(`status ${response.status}: ${text}`)
  return (streamed ? checkWire(text).terminal['response'] : JSON.parse(text)) as never
}
