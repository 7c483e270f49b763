import { gatewayShare, roundUsd } from '../../core/cost.ts'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent, Vector } from '../../core/event.ts'
import { upstreamInferenceCost, type Cost } from '../../core/generation.ts'
import type { JsonObject } from '../../core/item.ts'
import type { Usage } from '../../core/usage.ts'
import { fromBase64, toBase64 } from '../../lib/float-vectors.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { members } from '../responses/resource.ts'
import type { Fold } from '../shared/fold.ts'

type End = Extract<ModelEvent, { readonly type: 'response-end' }>

/** The vectors with their usage, for writers. */
export interface Embedded {
  readonly vectors: readonly Vector[]
  readonly usage: Usage | undefined
  readonly cost: Cost | undefined
  readonly isByok: boolean
  readonly model: string
  /** Members that follow all others, as JSON, each after a comma. */
  readonly added: string
  readonly options: AssemblerOptions
}

/** The answer to a request for embeddings: vectors, in the encoding the caller asked for, whatever the provider sent. */
export class EmbeddingsFold implements Fold {
  readonly #options: AssemblerOptions
  readonly #write: (embedded: Embedded) => string
  #end: End | undefined
  #answer = ''

  constructor(options: AssemblerOptions, write: (embedded: Embedded) => string = asList) {
    this.#options = options
    this.#write = write
  }

  push(events: readonly ModelEvent[]): void {
    const last = events[events.length - 1]
    if (last?.type === 'response-end') this.#end = last
  }

  finish(): void {
    const vectors = this.#end?.vectors
    if (vectors === undefined) throw new GatewayError('provider_unavailable', 'The provider ended its answer without vectors')
    const { facts, extra } = this.#options
    const { model, cost, isByok = false } = facts()
    const more = extra?.()
    const added = more === undefined ? '' : members(more)
    this.#answer = this.#write({ vectors, usage: this.#end?.usage, cost, isByok, model, added, options: this.#options })
    // The vectors have been written, and are the largest part of the call.
    this.#end = undefined
  }

  answer(): string {
    return this.#answer
  }

  get complete(): boolean {
    return this.#end !== undefined
  }

  get ended(): boolean {
    return this.#answer !== ''
  }

  /** Vectors are not items and are not stored in records: they can be computed again from their input. */
  output(): readonly [] {
    return []
  }

  itemTexts(): readonly [] {
    return []
  }

  // Nothing is written before the end: the answer is never streamed.
  fail(): void {}
  keepAlive = (): string => ''
  takeWire = (): string => ''
}

function asList({ vectors, usage, cost, isByok, model, added, options }: Embedded): string {
  const write = options.request['encoding_format'] === 'base64' ? asBase64 : asNumbers
  const data = vectors.map((vector, index) => `{"object":"embedding","index":${index},"embedding":${write(vector)}}`)
  const usageField = usage === undefined ? '' : `,"usage":${JSON.stringify(presentUsage(usage, cost, isByok))}`
  return `{"id":${JSON.stringify(options.id)},"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model)}${usageField}${added}}`
}

const asBase64 = (vector: Vector): string => JSON.stringify(typeof vector === 'string' ? vector : toBase64(vector))
export const asNumbers = (vector: Vector): string => JSON.stringify(typeof vector === 'string' ? fromBase64(vector) : vector)

function presentUsage({ inputTokens, totalTokens, audioInputTokens }: Usage, cost: Cost | undefined, isByok: boolean): JsonObject {
  return {
    prompt_tokens: inputTokens,
    total_tokens: totalTokens,
    ...(audioInputTokens === undefined ? {} : { prompt_tokens_details: { audio_tokens: audioInputTokens } }),
    // The contract cannot express an unknown cost.
    ...(cost === undefined || cost.source === 'unknown'
      ? {}
      : {
          cost: roundUsd(gatewayShare(cost)),
          cost_details: {
            upstream_inference_cost: upstreamInferenceCost({ isByok, cost }),
            upstream_inference_prompt_cost: roundUsd(cost.input),
            upstream_inference_completions_cost: roundUsd(cost.output),
          },
        }),
    is_byok: isByok,
  }
}
