import type { InputText, JsonObject } from '../../core/item.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { failureOf } from '../shared/failed-result.ts'
import { isObject } from '../shared/json.ts'
import type { ReasoningPart } from '../shared/reasoning-replay.ts'
import type { AssistantPart, Conversation, ToolResult, Turn } from '../shared/conversation.ts'
import { cachePointOf, type CachePlan } from './cache-points.ts'
import { DocumentNames, encodeMedia, encodeResultMedia, takesMedia } from './media.ts'
import type { BedrockTarget } from './media.ts'
import { traitsOf } from './model-traits.ts'
import type { ModelTraits } from './model-traits.ts'

export interface BedrockMessage {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

export interface Messages {
  readonly system: JsonObject[]
  readonly messages: BedrockMessage[]
}

export interface MessagePlan {
  /** Whether past calls and their results become text, for models that refuse these blocks. */
  readonly textCalls: boolean
  /** System text that the encoder adds. */
  readonly extraSystem: readonly string[]
  /** How the caller's cache breakpoints are encoded. */
  readonly cache: CachePlan
}

const CONTINUE = 'Continue.'
const SEE_DOCUMENT = 'See the attached document.'

/** The conversation as alternating messages, starting with the user's. */
export function encodeMessages(conversation: Conversation, target: BedrockTarget, plan: MessagePlan, dropped: string[]): Messages {
  const traits = traitsOf(target.options, target.upstreamModel)
  const writer = new MessageWriter(target, traits, plan)
  const added = plan.extraSystem.map((text): JsonObject => ({ text }))
  const system = [...conversation.system.flatMap(({ parts }) => writer.texts(parts)), ...added]
  if (!traits.system && system.length > 0) writer.user(system)
  for (const turn of conversation.turns) writer.turn(turn)
  const messages = writer.finish()
  if (writer.cutThoughts) dropped.push('input: reasoning that led to nothing')
  return { system: traits.system ? system : [], messages }
}

/**
 * Makes a conversation that ends with the assistant acceptable. If prefill is allowed, the answer is continued, without thoughts, which are useless
 * there, and without trailing white space. Otherwise a user message asks to continue.
 */
export function finishPrefill(messages: BedrockMessage[], allowed: boolean, dropped: string[]): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return
  if (!allowed) {
    messages.push({ role: 'user', content: [{ text: CONTINUE }] })
    dropped.push('input: an answer begun is not continued but followed')
    return
  }
  // A message never ends with a thought, so something remains.
  const content = last.content.filter((block) => !isThought(block))
  trimLastText(content)
  last.content.length = 0
  for (const block of content) last.content.push(block)
}

/**
 * Whether the conversation ends in a tool loop whose first turn does not begin with the thoughts that led to it. Tool results continue the loop,
 * whatever else the user says next to them.
 */
export function isLoopWithoutThinking(messages: readonly BedrockMessage[]): boolean {
  const start = messages.findLastIndex(({ role, content }) => role === 'user' && !content.some((block) => 'toolResult' in block))
  const first = messages.slice(start + 1).find(({ role }) => role === 'assistant')
  return first !== undefined && first.content.some((block) => 'toolUse' in block) && !isThought(first.content[0]!)
}

const isThought = (block: JsonObject): boolean => 'reasoningContent' in block

class MessageWriter {
  /** Whether thoughts were dropped because nothing follows them. */
  cutThoughts = false
  readonly #target: BedrockTarget
  readonly #traits: ModelTraits
  readonly #textCalls: boolean
  readonly #cache: CachePlan
  readonly #names = new DocumentNames()
  readonly #messages: BedrockMessage[] = []

  constructor(target: BedrockTarget, traits: ModelTraits, { textCalls, cache }: MessagePlan) {
    this.#cache = cache
    this.#target = target
    this.#traits = traits
    this.#textCalls = textCalls
  }

  turn(turn: Turn): void {
    if (turn.role === 'user') this.user(this.#userBlocks(turn.parts))
    else if (turn.role === 'assistant') this.#add('assistant', this.#assistantBlocks(turn.parts))
    else if (turn.role === 'tool') this.user(this.#resultBlocks(turn.results))
    else this.user(this.texts(turn.parts))
  }

  user(blocks: readonly JsonObject[]): void {
    this.#add('user', blocks)
  }

  /** Texts with their cache points; blank texts are dropped, because they are refused. */
  texts(parts: readonly InputText[]): JsonObject[] {
    return parts.flatMap((part): JsonObject[] => {
      if (part.text.trim() === '') return []
      return [{ text: part.text }, ...cachePointOf(part, this.#cache)]
    })
  }

  finish(): BedrockMessage[] {
    const messages = this.#messages
    if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: [{ text: CONTINUE }] })
    for (const { role, content } of messages) {
      // A document needs text next to it.
      if (role === 'user' && content.some((block) => 'document' in block) && !content.some((block) => 'text' in block))
        content.push({ text: SEE_DOCUMENT })
    }
    return messages
  }

  #add(role: BedrockMessage['role'], blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return
    const last = this.#messages.at(-1)
    if (last?.role === role) for (const block of blocks) last.content.push(block)
    else this.#messages.push({ role, content: [...blocks] })
  }

  #userBlocks(parts: readonly ContentPart[]): JsonObject[] {
    return parts.flatMap((part) =>
      part.type === 'input_text' ? this.texts([part]) : [encodeMedia(part, this.#target, this.#names), ...cachePointOf(part, this.#cache)],
    )
  }

  #assistantBlocks(parts: readonly AssistantPart[]): JsonObject[] {
    const blocks = parts.flatMap((part): JsonObject[] => {
      if (part.type === 'text') return part.text.trim() === '' ? [] : [{ text: part.text }, ...cachePointOf(part, this.#cache)]
      if (part.type === 'reasoning') return replayed(part)
      if (part.type === 'item') return []
      if (this.#textCalls) return [{ text: `Called the tool ${part.name} with the arguments ${part.arguments}` }]
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: argumentsObject(part.arguments) } }, ...cachePointOf(part, this.#cache)]
    })
    // Thoughts of an answer that was cut off may not end a message.
    const kept = blocks.slice(0, blocks.findLastIndex((block) => !isThought(block)) + 1)
    if (kept.length < blocks.length) this.cutThoughts = true
    return kept
  }

  /** All results come first; content that they cannot contain follows in the same turn. */
  #resultBlocks(results: readonly ToolResult[]): JsonObject[] {
    const after: JsonObject[] = []
    const blocks = results.map((result) => this.#result(result, after))
    return [...blocks, ...after]
  }

  #result(result: ToolResult, after: JsonObject[]): JsonObject {
    const { callId, name } = result
    const { failed, parts } = this.#traits.tool_result_status && !this.#textCalls ? failureOf(result) : { failed: false, parts: result.parts }
    const content: JsonObject[] = []
    for (const part of parts) {
      if (part.type === 'input_text') {
        content.push(this.#resultText(part.text))
        after.push(...cachePointOf(part, this.#cache))
        continue
      }
      if (!takesMedia(part, this.#target)) {
        content.push({ text: '[The tool also returned media this model cannot read.]' })
        continue
      }
      const block = this.#textCalls ? undefined : encodeResultMedia(part, this.#target, this.#names)
      if (block !== undefined) content.push(block)
      else {
        content.push({ text: '[The medium follows below.]' })
        after.push(encodeMedia(part, this.#target, this.#names))
      }
      after.push(...cachePointOf(part, this.#cache))
    }
    if (content.length === 0) content.push({ text: '(no output)' })
    if (this.#textCalls)
      return {
        text: `Result of the tool ${name}: ${content.map((block) => (typeof block['text'] === 'string' ? block['text'] : JSON.stringify(block['json']))).join('\n')}`,
      }
    return { toolResult: { toolUseId: callId, content, ...(this.#traits.tool_result_status ? { status: failed ? 'error' : 'success' } : {}) } }
  }

  #resultText(text: string): JsonObject {
    if (!this.#traits.tool_result_json) return { text }
    const json = parseExact(text)
    return isObject(json) ? { json } : { text }
  }
}

/** Reasoning goes back unchanged, because the signature covers the text. A redacted blob is sent as bytes in this format. */
function replayed(part: ReasoningPart): JsonObject[] {
  if (part.data !== undefined) return [{ reasoningContent: { redactedContent: Buffer.from(part.data, 'latin1').toString('base64') } }]
  if (part.signature === undefined) return []
  return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }]
}

/** Arguments must be an object here; incomplete ones of a cut answer are kept as text. */
function argumentsObject(text: string): unknown {
  const value = parseExact(text)
  if (isObject(value)) return value
  return value === null || text.trim() === '' ? {} : { _raw: text }
}

/** An answer that the model should continue may not end in white space. */
function trimLastText(content: JsonObject[]): void {
  const at = content.findLastIndex((block) => !('cachePoint' in block))
  const last = content[at]
  if (typeof last?.['text'] === 'string') content[at] = { ...last, text: last['text'].trimEnd() }
}
