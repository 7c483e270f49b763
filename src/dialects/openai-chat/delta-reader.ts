import type { Target } from '../../core/dialect.ts'
import { publicReasoningFormat, sealReasoning } from '../../core/reasoning-envelope.ts'
import type { AnswerAside } from '../shared/answer-aside.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { imageItem } from '../shared/image-item.ts'
import { asString, isObject } from '../shared/json.ts'
import { ThinkSplitter } from '../shared/think-tags.ts'
import type { ThinkSink } from '../shared/think-tags.ts'
import { decodeLogprobs, type CitationCollector } from './annotations.ts'
import { follow, imageUrl, legacyCall } from './frame.ts'
import type { Json } from './frame.ts'
import type { OpenAiChatOptions } from './options.ts'
import type { ReasoningCollector } from './reasoning-collector.ts'
import type { ToolCallDecoder } from './tool-calls.ts'

export interface DeltaReaderParts {
  readonly target: Target<OpenAiChatOptions>
  readonly writer: AnswerWriter
  readonly reasoning: ReasoningCollector
  readonly citations: CitationCollector
  /** Set if the answer is a call of a hidden tool. */
  readonly aside: AnswerAside | undefined
}

type Logprobs = ReturnType<typeof decodeLogprobs>

const joined = (before: Logprobs, more: Logprobs): Logprobs => (before === undefined || more === undefined ? (before ?? more) : [...before, ...more])

/** Adds to the same list, because a server may send blanks for as long as it likes. */
function held(before: NonNullable<Logprobs>[number][] | undefined, more: Logprobs): NonNullable<Logprobs>[number][] | undefined {
  if (more === undefined) return before
  const list = before ?? []
  for (const each of more) list.push(each)
  return list
}

/** The words of an answer that is spoken, which has no other text. */
const spokenIn = ({ audio }: Json): unknown => (isObject(audio) ? audio['transcript'] : undefined)

/** Reads the contents of a delta, or of a whole message: thoughts, text, pictures, calls. One instance per answer. */
export class DeltaReader {
  /** Set by every delta that did more than write text. */
  busy = false
  /** Pictures in the answer so far: few servers count their tokens by themselves. */
  pictures = 0
  readonly #target: Target<OpenAiChatOptions>
  readonly #writer: AnswerWriter
  readonly #reasoning: ReasoningCollector
  readonly #citations: CitationCollector
  readonly #aside: AnswerAside | undefined
  readonly #splitter: ThinkSplitter
  /** Logprobs of the current delta, for its first text. */
  #logprobs: Logprobs
  /** Logprobs of text that is held back. */
  #waiting: NonNullable<Logprobs>[number][] | undefined

  constructor({ target, writer, reasoning, citations, aside }: DeltaReaderParts) {
    this.#target = target
    this.#writer = writer
    this.#reasoning = reasoning
    this.#citations = citations
    this.#aside = aside
    this.#splitter = new ThinkSplitter(target.options.think_tags)
  }

  /** Whether text is written as it arrives: no tag is open, and none may be beginning. */
  get passing(): boolean {
    return this.#splitter.passing
  }

  text(text: string): void {
    this.#splitter.push(text, this.#sink)
  }

  thoughts(text: string): void {
    this.#sink('reasoning', text)
  }

  /** The answer is over, so a possible beginning of a tag was text. */
  end(): void {
    this.#splitter.end(this.#sink)
  }

  /** `isMessage` means a message and not a piece of one. `tools` reads its calls once everything before them has been written. */
  read(delta: Json, choice: Json, isMessage: boolean, tools: ToolCallDecoder): void {
    this.#reason(delta)
    const logprobs = decodeLogprobs(choice['logprobs'])
    if (logprobs !== undefined) this.busy = true
    this.#logprobs = logprobs
    const content = delta['content'] || spokenIn(delta)
    this.#content(content)
    if (!this.#splitter.holdsText) this.#waiting = undefined
    else if (content) this.#waiting = held(this.#waiting, logprobs)
    // Logprobs of a delta without text belong to no other delta, and the next one may be read without parsing.
    this.#logprobs = undefined
    if (typeof delta['refusal'] === 'string') this.#writer.refusal(delta['refusal'])
    // A picture ends the text that the citations refer to.
    if (this.#citations.annotations(delta['annotations'], this.#writer)) this.busy = true
    this.#images(delta['images'])
    this.#calls(delta, isMessage, tools)
  }

  #calls(delta: Json, isMessage: boolean, tools: ToolCallDecoder): void {
    const legacy = legacyCall(delta)
    const hasCalls = legacy !== undefined || (Array.isArray(delta['tool_calls']) && delta['tool_calls'].length > 0)
    if (!hasCalls && this.#target.options.tool_signature_path.length === 0) return
    const signature = follow(delta, this.#target.options.tool_signature_path)
    if (signature !== undefined) this.signature(signature)
    if (!hasCalls) return
    this.busy = true
    this.#splitter.end(this.#sink)
    tools.push(delta['tool_calls'], isMessage)
    if (legacy !== undefined) tools.push([{ index: 0, function: legacy }], isMessage)
  }

  /** Only one of the spellings is read: servers that send several repeat the same text in each. */
  #reason(delta: Json): void {
    const details = delta['reasoning_details']
    if (Array.isArray(details) && details.length > 0) {
      this.busy = true
      this.#reasoning.details(details, this.#writer)
      if (details.some((entry) => isObject(entry) && (entry['text'] || entry['summary']))) return
    }
    const text = asString(delta['reasoning_content']) || asString(delta['reasoning']) || asString(delta['reasoning_text'])
    if (text) this.#sink('reasoning', text)
  }

  #content(content: unknown): void {
    if (typeof content === 'string') {
      if (content !== '') this.text(content)
      return
    }
    if (!Array.isArray(content)) return
    this.busy = true
    for (const part of content) {
      if (!isObject(part)) continue
      if (part['type'] === 'thinking') this.#thinkingPart(part)
      else if (part['type'] === 'reasoning') this.#thinking(part['summary'] ?? part['text'])
      else if (part['type'] === 'refusal') this.#writer.refusal(asString(part['refusal']) ?? '')
      else if (part['type'] === 'image_url') this.#images([part])
      else if (typeof part['text'] === 'string' && part['text'] !== '') this.text(part['text'])
    }
  }

  /** The last piece of a block of thoughts may have its signature. */
  #thinkingPart({ thinking, signature }: Json): void {
    if (this.#reasoning.isSigned) this.#writer.closeReasoning()
    this.#thinking(thinking)
    if (typeof signature === 'string' && signature !== '') this.#reasoning.sign(signature, this.#writer)
  }

  #thinking(thinking: unknown): void {
    if (typeof thinking === 'string') return this.#sink('reasoning', thinking)
    if (!Array.isArray(thinking)) return
    for (const part of thinking) if (isObject(part) && typeof part['text'] === 'string') this.#sink('reasoning', part['text'])
  }

  readonly #sink: ThinkSink = (kind, text) => {
    if (kind === 'text') {
      if (this.#aside === undefined) this.#writer.text(text, joined(this.#waiting, this.#logprobs))
      else this.#aside.text(text)
      this.#logprobs = this.#waiting = undefined
    } else {
      if (!this.#splitter.holdsText) this.#waiting = undefined
      this.#writer.reasoning('text', text)
      this.#reasoning.text(text)
    }
  }

  /** Pictures next to the text, as data URLs. */
  #images(images: unknown): void {
    if (!Array.isArray(images)) return
    for (const image of images) {
      const url = imageUrl(image)
      if (url === undefined) continue
      this.busy = true
      this.pictures++
      const comma = url.startsWith('data:') ? url.indexOf(',') : -1
      this.#writer.wholeItem(comma < 0 ? imageItem(url) : imageItem(url.slice(comma + 1), url.slice('data:'.length, comma)))
    }
  }

  /** A signature that must come back with the call is stored in a reasoning item before it. */
  signature(signature: string): void {
    const format = this.#target.options.reasoning_format
    this.busy = true
    this.#splitter.end(this.#sink)
    this.#writer.opaqueReasoning({
      format: publicReasoningFormat(format),
      signature,
      encrypted_content: sealReasoning({ format, scope: this.#target.scope, signature }),
    })
  }

  /** So is an object that a server requires back with its call, whatever it contains. */
  extra(data: string): void {
    const format = this.#target.options.reasoning_format
    this.busy = true
    this.#splitter.end(this.#sink)
    const encrypted_content = sealReasoning({ format, scope: this.#target.scope, data, signs: 'call' })
    this.#writer.opaqueReasoning({ format: publicReasoningFormat(format), encrypted_content })
  }
}
