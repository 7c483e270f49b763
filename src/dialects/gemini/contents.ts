import type { Target } from '../../core/dialect.ts'
import type { JsonObject, OtherItem } from '../../core/item.ts'
import { joinTexts } from '../shared/content-parts.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { isExactObject } from '../shared/exact-json.ts'
import { failureOf } from '../shared/failed-result.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import type { AssistantPart, CallPart, Conversation, ToolResult } from '../shared/conversation.ts'
import { codeParts, isCodeItem } from './code-execution.ts'
import { canEncode, encodePart, encodePicture } from './media.ts'
import type { ModelTraits } from './model-traits.ts'
import type { GeminiOptions } from './options.ts'

type GeminiTarget = Target<GeminiOptions>

export interface GeminiContent {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

export interface EncodedConversation {
  readonly contents: readonly GeminiContent[]
  readonly systemInstruction?: JsonObject
}

/** The documented placeholder for the signature of a call that this model did not make: base64 of `skip_thought_signature_validator`. */
const STAND_IN_SIGNATURE = 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I='

/** The model needs something to answer. */
const CONTINUE: GeminiContent = { role: 'user', parts: [{ text: 'Continue.' }] }

/**
 * The conversation as contents. The results of one turn have a user content to themselves, because anything next to them makes the endpoint miscount.
 * `extraSystem` is text from the encoder.
 */
export function encodeContents(
  conversation: Conversation,
  target: GeminiTarget,
  traits: ModelTraits,
  extraSystem: readonly string[],
): EncodedConversation {
  const contents: GeminiContent[] = []
  /** Media of tool results, which go into the next user content. */
  let attachments: ContentPart[] = []
  const flush = (parts: readonly ContentPart[]): void => {
    const all = [...attachments, ...parts]
    attachments = []
    if (all.length > 0) contents.push({ role: 'user', parts: all.map((part) => encodePart(part, target)) })
  }
  for (const turn of conversation.turns) {
    if (turn.role === 'user') flush(turn.parts)
    else {
      flush([])
      if (turn.role === 'assistant') {
        const parts = assistantParts(turn.parts, traits, target)
        if (parts.length > 0) contents.push({ role: 'model', parts })
      } else if (turn.role === 'tool') {
        contents.push({ role: 'user', parts: turn.results.map((result) => functionResponse(result, target, traits, attachments)) })
      } else flush(turn.parts)
    }
  }
  flush([])
  return withSystem(
    contents.length > 0 ? contents : [CONTINUE],
    [...conversation.system.map(({ parts }) => joinTexts(parts)), ...extraSystem],
    traits,
  )
}

/** If prefill is not supported, a user message asks to continue. */
export function finishPrefill(contents: readonly GeminiContent[], { prefill }: ModelTraits, dropped: string[]): readonly GeminiContent[] {
  if (prefill || contents.at(-1)?.role !== 'model') return contents
  dropped.push('input: an answer begun is not continued but followed')
  return [...contents, CONTINUE]
}

function withSystem(contents: readonly GeminiContent[], texts: readonly string[], traits: ModelTraits): EncodedConversation {
  const parts = texts.filter((text) => text !== '').map((text) => ({ text }))
  if (parts.length === 0) return { contents }
  if (traits.system_instruction) return { contents, systemInstruction: { parts } }
  const [first, ...rest] = contents
  if (first?.role !== 'user') return { contents: [{ role: 'user', parts }, ...contents] }
  return { contents: [{ role: 'user', parts: [...parts, ...first.parts] }, ...rest] }
}

// ---- assistant ----

/** Whether this format has parts for an item of another type. */
export function keepItem(item: OtherItem, traits: ModelTraits): boolean {
  if (item.type === 'image_generation_call') return traits.image_output && Boolean(asString(item['result']))
  return isCodeItem(item)
}

/**
 * The parts of a model content, in the order of the turn. A signature is put on the part that it arrived with, which is the part after it. A
 * signature that nothing follows arrived on an empty text part and goes back on one. If clients put all thoughts first, signatures of calls wait for
 * their calls. Parts are never merged, because a signature covers a single part.
 */
function assistantParts(parts: readonly AssistantPart[], traits: ModelTraits, target: GeminiTarget): JsonObject[] {
  const out: JsonObject[] = []
  let signature: string | undefined
  const ofCalls: string[] = []
  let calls = 0
  const take = (): JsonObject => {
    const taken = signature === undefined ? {} : { thoughtSignature: signature }
    signature = undefined
    return taken
  }
  const flush = (): void => {
    if (signature !== undefined) out.push({ text: '', ...take() })
  }
  const sign = (next: string | undefined): void => {
    if (next === undefined) return
    flush()
    signature = next
  }
  for (const part of parts) {
    if (part.type === 'reasoning') {
      if (part.data !== undefined && part.scope === target.scope) {
        flush()
        const carried = tryParseJson(part.data)
        if (isObject(carried)) out.push(carried)
      } else if (part.signs === 'call' && part.signature !== undefined) ofCalls.push(part.signature)
      else sign(part.signature)
    } else if (part.type === 'text') out.push({ text: part.text, ...take() })
    else if (part.type === 'call') {
      // In a group of parallel calls only the first is signed.
      sign(ofCalls.shift())
      if (calls++ === 0 && traits.call_signatures) signature ??= STAND_IN_SIGNATURE
      out.push({ functionCall: functionCall(part, target), ...take() })
    } else if (part.item.type === 'image_generation_call') {
      if (traits.call_signatures) signature ??= STAND_IN_SIGNATURE
      out.push({ ...encodePicture(part.item, target), ...take() })
    } else {
      for (const code of codeParts(part.item)) out.push({ ...code, ...take() })
    }
  }
  flush()
  return out.some((part) => part['text'] !== '') ? out : []
}

/** An unknown field makes the endpoint reject the whole request. */
const idOf = (id: string, { options }: GeminiTarget): { readonly id?: string } => (options.call_ids ? { id } : {})

function functionCall(call: CallPart, target: GeminiTarget): JsonObject {
  const args = parseExact(call.arguments)
  // Arguments of a cut answer are not an object; as raw text the model still sees what it wrote.
  return { ...idOf(call.id, target), name: call.name, args: isExactObject(args) ? args : { _raw: call.arguments } }
}

// ---- tool results ----

function note(count: number, where: string): string {
  return count === 0 ? '' : `[${count} ${count === 1 ? 'attachment' : 'attachments'} ${where}]`
}

function functionResponse(result: ToolResult, target: GeminiTarget, traits: ModelTraits, attachments: ContentPart[]): JsonObject {
  const { failed, parts: content } = failureOf(result)
  const media = content.filter((part) => part.type !== 'input_text')
  const usable = media.filter((part) => canEncode(part, target))
  const text = joinTexts(content)
  const notes = [note(media.length - usable.length, 'left out: this model cannot read them')]
  const shared = { ...idOf(result.callId, target), name: result.name }
  if (traits.tool_result_media && usable.length > 0) {
    const parts = usable.map((part) => encodePart(part, target))
    return { functionResponse: { ...shared, response: responseObject(text, notes, failed), parts } }
  }
  if (usable.length > 0) {
    notes.push(note(usable.length, 'in the next user message'))
    attachments.push({ type: 'input_text', text: `Attachments of the result of ${result.name} (call ${result.callId}):` })
    for (const part of usable) attachments.push(part)
  }
  return { functionResponse: { ...shared, response: responseObject(text, notes, failed) } }
}

/**
 * Responses must be objects. An object written by a tool is sent unchanged. Anything else, and an object with references, is sent as text in a
 * member.
 */
function responseObject(text: string, notes: readonly string[], failed: boolean): JsonObject {
  const notEmpty = notes.filter((each) => each !== '')
  if (failed) return { error: [text, ...notEmpty].filter((each) => each !== '').join('\n\n') }
  const value = text.startsWith('{') || /^\s+\{/.test(text) ? parseExact(text) : undefined
  const object = isExactObject(value) && !holdsReferences(value, 0) ? value : undefined
  if (object === undefined) return { output: [text, ...notEmpty].filter((each) => each !== '').join('\n\n') }
  return notEmpty.length === 0 ? object : { ...object, attachments: notEmpty.join(' ') }
}

const MAX_DEPTH = 100
const REFERENCE_KEYS: ReadonlySet<string> = new Set(['$ref', '$defs'])

/**
 * Inside a response these keys count as references to its media, and an unknown reference makes the endpoint reject the request. Removing them would
 * change a schema or the description of an API.
 */
function holdsReferences(value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH) return true
  if (Array.isArray(value)) return value.some((each) => holdsReferences(each, depth + 1))
  return isExactObject(value) && Object.entries(value).some(([key, inner]) => REFERENCE_KEYS.has(key) || holdsReferences(inner, depth + 1))
}
