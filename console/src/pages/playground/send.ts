import { createParser } from 'eventsource-parser'
import { answerIn, ApiError } from '../../api/client.ts'
import type { Body } from './body.ts'
import type { RunEvent, Resource } from './fold.ts'
import type { StreamEvent } from './run.ts'

export interface SendOptions {
  readonly key: string
  /** Aborting counts as stopped, not as failed. */
  readonly signal: AbortSignal
  readonly onEvent: (event: RunEvent) => void
  readonly fetch?: typeof fetch
}

/** Sends a request and reports everything that happens, ending with the outcome. Never rejects. */
export async function send(body: Body, { key, signal, onEvent, fetch: call = (url, init) => fetch(url, init) }: SendOptions): Promise<void> {
  try {
    const response = await call('/api/v1/responses', {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-experimental-metadata': 'enabled' },
      body: JSON.stringify(body),
    })
    onEvent({ type: 'head', id: response.headers.get('x-generation-id') ?? undefined })
    if (!response.ok) onEvent({ type: 'refused', status: response.status, text: await response.text() })
    else if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) await readEvents(response, onEvent)
    else onEvent({ type: 'whole', response: (await answerIn(response, ['output'])) as Resource })
  } catch (error) {
    if (signal.aborted) onEvent({ type: 'stopped' })
    else if (error instanceof ApiError) onEvent({ type: 'broken', message: error.message })
    else onEvent({ type: 'broken', message: `The connection to the gateway broke: ${error instanceof Error ? error.message : String(error)}` })
  }
}

async function readEvents(response: Response, onEvent: (event: RunEvent) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = eventOf(data)
      if (event !== undefined) onEvent({ type: 'event', event })
    },
  })
  // Uses the reader, because not every browser can iterate over a stream.
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) parser.feed(decoder.decode(read.value, { stream: true }))
  onEvent({ type: 'ended' })
}

/** Undefined for `[DONE]` and for data that is no event. */
function eventOf(data: string): StreamEvent | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' ? (value as StreamEvent) : undefined
  } catch {
    return undefined
  }
}
