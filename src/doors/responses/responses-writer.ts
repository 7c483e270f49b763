import type { OutputItem } from '../../core/item.ts'
import type { AnswerWriter } from './answer-writer.ts'
import type { AssemblerOptions } from './assembler-options.ts'
import { createItem, type ItemContext } from './create-item.ts'
import { CallIds } from './item-ids.ts'
import type { OpenItem } from './open-item.ts'
import { createResource, type ResourceState } from './resource.ts'
import { WireWriter } from './wire.ts'

/** The answer as Responses events, or as one Responses object. */
export class ResponsesWriter implements AnswerWriter {
  readonly streams: boolean
  readonly #wire: WireWriter
  readonly #resource: (state: ResourceState) => string
  readonly #context: ItemContext
  readonly #errorEvent: boolean
  answer = ''

  constructor(options: AssemblerOptions) {
    this.streams = options.stream
    this.#wire = new WireWriter(options.stream)
    this.#resource = createResource(options.id, Math.floor(options.receivedAt / 1000), options.request)
    this.#context = { wire: this.#wire, callIds: new CallIds(options), mirrorReasoning: options.mirrorReasoning ?? false }
    this.#errorEvent = options.errorEvent ?? false
  }

  begin(state: ResourceState): void {
    const response = `"response":${this.#resource(state)}`
    this.#wire.event('response.created', response)
    this.#wire.event('response.in_progress', response)
  }

  item(item: OutputItem, id: string, index: number): OpenItem {
    return createItem(item, id, index, this.#context)
  }

  done(index: number, text: string): void {
    this.#wire.event('response.output_item.done', `"output_index":${index},"item":${text}`)
  }

  echo(body: string): void {
    this.#wire.event('response.debug', `"debug":{"echo_upstream_body":${body}}`)
  }

  sign(): void {
    this.#wire.bare('keepalive')
  }

  end(state: ResourceState): void {
    const resource = this.#resource(state)
    if (!this.streams) this.answer = resource
    else this.#wire.end(`response.${state.status}`, `"response":${resource}`, this.#errorEvent ? state.error : undefined)
  }

  take(): string {
    return this.#wire.take()
  }
}
