import { createParser } from 'eventsource-parser'
import type { Body } from './body.ts'
import type { Happening, Resource } from './fold.ts'
import type { StreamEvent } from './run.ts'

export interface SendOptions {
  readonly key: string
  /** Aborting counts as stopped, not as failed. */
  readonly signal: AbortSignal
  readonly onHappening: (happening: Happening) => void
  readonly fetch?: typeof fetch
}

/** Sends a request and reports everything that happens, ending with the outcome. Never rejects. */
export async function send(body: Body, { key, signal, onHappening, fetch: call = (url, init) => fetch(url, init) }: SendOptions): Promise<void> {
  try {
    const response = await call('/api/v1/responses', {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-experimental-metadata': 'enabled' },
      body: JSON.stringify(body),
    })
    onHappening({ type: 'head', id: response.headers.get('x-generation-id') ?? undefined })
    if (!response.ok) onHappening({ type: 'refused', status: response.status, text: await response.text() })
    else if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) await readEvents(response, onHappening)
    else onHappening({ type: 'whole', response: (await response.json()) as Resource })
  } catch (error) {
    if (signal.aborted) onHappening({ type: 'stopped' })
    else onHappening({ type: 'broken', message: `The connection to the gateway broke: ${error instanceof Error ? error.message : String(error)}` })
  }
}

async function readEvents(response: Response, onHappening: (happening: Happening) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = eventOf(data)
      if (event !== undefined) onHappening({ type: 'event', event })
    },
  })
  // Uses the reader, because not every browser can iterate over a stream.
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) parser.feed(decoder.decode(read.value, { stream: true }))
  onHappening({ type: 'ended' })
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
