import { z } from 'zod'
import type { Decoder, Dialect } from '../../core/dialect.ts'
import type { ModelEvent } from '../../core/event.ts'
import { errorFromPayload } from '../shared/errors.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { anthropicMessages } from './index.ts'
import { anthropicMessagesOptions } from './options.ts'
import type { AnthropicMessagesOptions } from './options.ts'
import { MessagesDecoder } from './stream.ts'

const EXCEPTION = 'exception:'
const CHUNK_HEAD = '{"bytes":"'

/** Decodes events of the format, in base64, one per frame of an AWS event stream. */
class ChunkDecoder implements Decoder {
  readonly #inner: MessagesDecoder
  readonly #providerName: string

  constructor(inner: MessagesDecoder, providerName: string) {
    this.#inner = inner
    this.#providerName = providerName
  }

  get finished(): boolean {
    return this.#inner.finished
  }
  get settled(): boolean {
    return this.#inner.settled
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    if (event?.startsWith(EXCEPTION)) {
      throw errorFromPayload(tryParseJson(data) ?? data, { providerName: this.#providerName, code: event.slice(EXCEPTION.length) })
    }
    const bytes = bytesOf(data)
    // A frame that is not a chunk is an unwrapped event, or garbage; the decoder tells which.
    this.#inner.push(bytes === undefined ? data : Buffer.from(bytes, 'base64').toString(), undefined, out)
  }
  body(text: string, out: ModelEvent[]): void {
    this.#inner.body(text, out)
  }
  end(out: ModelEvent[]): void {
    this.#inner.end(out)
  }
}

/** Base64 needs no unescaping, so the frame need not be parsed. Padding of random length follows it. */
function bytesOf(data: string): string | undefined {
  if (data.startsWith(CHUNK_HEAD)) {
    const end = data.indexOf('"', CHUNK_HEAD.length)
    if (end > 0) return data.slice(CHUNK_HEAD.length, end)
  }
  const frame = tryParseJson(data)
  return isObject(frame) ? asString(frame['bytes']) : undefined
}

/** The same format through a cloud's general API for models: version and betas in the body, the model in the path, and events in its own frames. */
export const invokeModel: Dialect<AnthropicMessagesOptions> = {
  ...anthropicMessages,
  name: 'anthropic-invoke',
  framing: 'aws-event-stream',
  options: anthropicMessagesOptions.extend({
    path: z.string().startsWith('/').default('/model/{model}/invoke'),
    stream_path: z.string().startsWith('/').default('/model/{model}/invoke-with-response-stream'),
    version: z.string().default('bedrock-2023-05-31'),
    version_in: z.enum(['header', 'body']).default('body'),
    model_in_body: z.boolean().default(false),
    stream_in_body: z.boolean().default(false),
    betas_in: z.enum(['header', 'body']).default('body'),
    image_urls: z.boolean().default(false),
    document_urls: z.boolean().default(false),
  }),
  encodeRequest(request, target) {
    const encoded = anthropicMessages.encodeRequest(request, target)
    return { ...encoded, headers: { ...encoded.headers, accept: target.stream ? 'application/vnd.amazon.eventstream' : 'application/json' } }
  },
  decoder: (request, target) => new ChunkDecoder(new MessagesDecoder(request, target), target.providerName),
}
