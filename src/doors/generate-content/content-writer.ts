import { ERROR_KINDS, type ErrorType } from '../../core/error.ts'
import type { OutputItem } from '../../core/item.ts'
import type { AnswerWriter } from '../responses/answer-writer.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { createItem, type ItemContext } from '../responses/create-item.ts'
import { CallIds } from '../responses/item-ids.ts'
import type { OpenItem } from '../responses/open-item.ts'
import { members, type ResourceState } from '../responses/resource.ts'
import { WireWriter } from '../responses/wire.ts'
import { ContentCall, ContentOther, ContentThoughts, ContentText } from './answer-items.ts'
import { faultOf } from './error-envelope.ts'
import { finishOf } from './finish.ts'
import { Grounding } from './grounding.ts'
import { logprobsResultOf } from './logprobs.ts'
import { PartWriter } from './part-writer.ts'
import type { GenerateContentPreferences } from './to-responses.ts'
import { usageMetadataOf } from './usage.ts'

/**
 * The answer as GenerateContentResponses: one for each part, as events or as a list, or a single one. The last has the finish reason, the usage and the
 * sources. Every one of a stream has a part, because readers treat an answer as broken if one has none.
 */
export class ContentWriter implements AnswerWriter {
  readonly streams: boolean
  readonly #options: AssemblerOptions
  readonly #preferences: GenerateContentPreferences
  readonly #context: ItemContext
  readonly #parts: PartWriter
  readonly #grounding = new Grounding()
  /** Written before and after each answer of a stream. */
  #before = 'data: '
  #behind = '\n\n'
  /** Everything after the candidates. */
  #tail = ''
  #text = ''
  /** How a failure ends the stream for readers that skip events with an error. */
  #bareFault = ''
  /** The stream began with a keep-alive, before it was known which model answers. */
  #begunEarly = false
  answer = ''

  constructor(options: AssemblerOptions, preferences: GenerateContentPreferences) {
    this.streams = options.stream
    this.#options = options
    this.#preferences = preferences
    if (preferences.listed === true) [this.#before, this.#behind] = ['[', '\n']
    this.#context = { wire: new WireWriter(false), callIds: new CallIds(options), mirrorReasoning: false }
    this.#parts = new PartWriter(options.stream ? (part) => this.#chunk(part) : undefined)
  }

  begin({ model }: ResourceState): void {
    this.#tail = this.#tailFor(model)
  }

  item(item: OutputItem, id: string, index: number): OpenItem {
    if (this.#begunEarly) this.#tail = this.#tailFor(this.#options.facts().model)
    const inner = createItem(item, id, index, this.#context)
    switch (item.type) {
      case 'message':
        return new ContentText(inner, this.#parts, this.#grounding, this.#preferences.bareWord === true)
      case 'reasoning':
        return new ContentThoughts(inner, this.#parts, this.#preferences.thoughts)
      case 'function_call':
      case 'custom_tool_call':
        return new ContentCall(inner, this.#parts)
      default:
        return new ContentOther(inner, this.#parts, this.#grounding)
    }
  }

  done(): void {
    // The item has already written its own end.
  }

  echo(body: string): void {
    this.#write(`{"debug":{"echo_upstream_body":${body}}${this.#tail}}`)
  }

  sign(): void {
    this.#begunEarly = true
    this.#chunk('{"text":""}')
  }

  end(state: ResourceState): void {
    const { error, extra } = state
    const more = extra === undefined ? '' : members(extra)
    if (error !== undefined) {
      const { errorType, message } = error
      const body = faultOf(ERROR_KINDS[errorType as ErrorType].status, message.toWellFormed(), errorType)
      const fault = `{"error":${JSON.stringify(body)}${more}}`
      this.#write(fault)
      if (this.#preferences.listed !== true) this.#bareFault = fault
      return this.#close()
    }
    this.#parts.finish()
    // A stream that began with a keep-alive did not know yet which model answers.
    this.#tail = this.#tailFor(state.model)
    const parts = this.streams ? '[{"text":""}]' : this.#parts.all
    const candidate = { ...finishOf(state, this.#parts), ...logprobsResultOf(state.output), ...this.#grounding.members }
    const usage = usageMetadataOf(state)
    const chunk =
      `{"candidates":[{"content":{"parts":${parts},"role":"model"},"index":0${members(candidate)}}]` +
      `${usage === undefined ? '' : `,"usageMetadata":${JSON.stringify(usage)}`}${this.#tail}${more}}`
    if (!this.streams) return void (this.answer = chunk)
    this.#write(chunk)
    this.#close()
  }

  take(): string {
    const text = this.#text === '' ? this.#bareFault : this.#text
    if (this.#text === '') this.#bareFault = ''
    this.#text = ''
    return text
  }

  #tailFor(model: string): string {
    return `,"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(this.#options.id)}`
  }

  #chunk(part: string): void {
    // Some readers skip answers without usage, since the format's vendor always sends it.
    this.#write(`{"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":0}],"usageMetadata":{}${this.#tail}}`)
  }

  #write(answer: string): void {
    this.#text += this.#before + answer + this.#behind
    if (this.#preferences.listed === true) this.#before = ',\r\n'
  }

  #close(): void {
    if (this.#preferences.listed === true) this.#text += ']\n'
  }
}
