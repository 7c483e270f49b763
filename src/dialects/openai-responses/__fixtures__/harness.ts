import type { Target } from '../../../core/dialect.ts'
import type { ModelEvent } from '../../../core/event.ts'
import type { ModelRequest } from '../../../core/request.ts'
import { createSseParser } from '../../../lib/sse.ts'
import { checkEventBalance } from '../../../testing/event-balance.ts'
import { openAiResponses } from '../index.ts'
import type { ResponsesOptions } from '../index.ts'
import { createResponsesDecoder } from '../stream.ts'
import type { ResponsesDecoder } from '../stream.ts'

export type TargetParts = Partial<Omit<Target<ResponsesOptions>, 'options'>> & { readonly options?: Partial<ResponsesOptions> }

/** An endpoint with the dialect's defaults, of which any part may be replaced. */
export function target(parts: TargetParts = {}): Target<ResponsesOptions> {
  const { options, ...rest } = parts
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: 'small-1',
    options: openAiResponses.options.parse(options ?? {}),
    supports: new Set(openAiResponses.supports),
    contextLength: 128_000,
    scope: 'acme/main',
    stream: true,
    ...rest,
  }
}

export const emptyRequest: ModelRequest = { input: [] }

export interface Decoded {
  readonly events: readonly ModelEvent[]
  readonly decoder: ResponsesDecoder
}

/** Frames without event names, as many servers send them; objects are written as JSON. */
export function decode(frames: readonly (string | object)[], parts: TargetParts & { readonly request?: ModelRequest } = {}): Decoded {
  const { request = emptyRequest, ...rest } = parts
  const decoder = createResponsesDecoder(request, target(rest))
  const events: ModelEvent[] = []
  for (const frame of frames) decoder.push(typeof frame === 'string' ? frame : JSON.stringify(frame), undefined, events)
  decoder.end(events)
  return { events, decoder }
}

export function decodeBody(body: string | object, parts: TargetParts & { readonly request?: ModelRequest } = {}): Decoded {
  const { request = emptyRequest, ...rest } = parts
  const decoder = createResponsesDecoder(request, target({ stream: false, ...rest }))
  const events: ModelEvent[] = []
  decoder.body(typeof body === 'string' ? body : JSON.stringify(body), events)
  return { events, decoder }
}

/** The bytes of an event stream, cut into pieces of `size`. */
export function decodeSse(bytes: Buffer, size: number, parts: TargetParts = {}): Decoded {
  const decoder = createResponsesDecoder(emptyRequest, target(parts))
  const events: ModelEvent[] = []
  const parser = createSseParser((data, event) => decoder.push(data, event, events))
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size))
  parser.end()
  decoder.end(events)
  return { events, decoder }
}

/** The error that a decoder threw; fails if there was none. */
export function failure(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

interface FoldedItem {
  readonly type: string
  /** Text, refusal, summary and raw reasoning by part number, joined by kind. */
  text: string
  refusal: string
  summary: string
  reasoning: string
  arguments: string
  readonly annotations: unknown[]
  readonly logprobs: unknown[]
  readonly start: { readonly [field: string]: unknown }
  end: { readonly [field: string]: unknown } | undefined
}

export interface Folded {
  readonly items: readonly FoldedItem[]
  readonly end: Extract<ModelEvent, { type: 'response-end' }>
  readonly start: Extract<ModelEvent, { type: 'response-start' }>
}

/** Combines balanced events into an answer, like a reader that knows nothing of the upstream; throws if they are not balanced. */
export function fold(events: readonly ModelEvent[]): Folded {
  checkEventBalance(events)
  const items = new Map<string, FoldedItem>()
  const start = events[0]
  const end = events.at(-1)
  if (start?.type !== 'response-start' || end?.type !== 'response-end') throw new Error('an answer begins with response-start and ends with response-end')
  const open = (key: string): FoldedItem => items.get(key)!
  for (const event of events.slice(1, -1)) {
    switch (event.type) {
      case 'item-start': {
        const { type } = event.item
        const empty = { text: '', refusal: '', summary: '', reasoning: '', arguments: '', annotations: [], logprobs: [], end: undefined }
        items.set(event.key, { type, ...empty, start: { ...event.item } })
        break
      }
      case 'text-delta': {
        const item = open(event.key)
        item.text += event.delta
        item.logprobs.push(...(event.logprobs ?? []))
        break
      }
      case 'refusal-delta':
        open(event.key).refusal += event.delta
        break
      case 'reasoning-delta':
        open(event.key)[event.kind === 'summary' ? 'summary' : 'reasoning'] += event.delta
        break
      case 'arguments-delta':
        open(event.key).arguments += event.delta
        break
      case 'annotation':
        open(event.key).annotations.push(event.annotation)
        break
      case 'item-event':
        break
      case 'item-end':
        open(event.key).end = event.item ?? {}
        break
      default:
        throw new Error(`${event.type} inside an answer`)
    }
  }
  return { items: [...items.values()], start, end }
}
