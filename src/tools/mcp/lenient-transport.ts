import type * as Sdk from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'
import { sending, type Question } from './egress-fetch.ts'
import { withoutNulls } from '../../lib/without-nulls.ts'
import { resultReader } from './result.ts'
import { pageReader } from './tool-list.ts'

interface Asked {
  readonly question: Question
  readonly read: ((result: JsonObject) => void) | undefined
}

/** Questions that may wait for their answers at once. */
const MAX_ASKED = 256
/** Answers to questions of the server under way at once; each is a request of its own. Whoever asks faster than it hears is not answered. */
const MAX_ANSWERING = 16

/**
 * The SDK takes an answer whole or not at all: for one tool of a list that is none, for one part of a result that it does not know. Answers
 * lose what cannot be read before they reach it. To be called before the SDK connects: it hears messages after whoever listened before.
 */
export function readLeniently(transport: Pick<Sdk.Transport, 'send' | 'onmessage'>): void {
  /** By ids as text: some servers send them back as such. */
  const asked = new Map<string, Asked>()
  const send = transport.send.bind(transport)
  /** The SDK hears the answer to its first one alone: whatever it says next shows that it has. */
  let first: Question | undefined
  let answering = 0
  transport.send = async (message, options) => {
    if (first !== undefined) first.settled = true
    if (!('id' in message)) return await sending(undefined, () => send(message, options))
    if (!('method' in message)) {
      if (answering === MAX_ANSWERING) return
      answering++
      try {
        return await sending(undefined, () => send(message, options))
      } finally {
        answering--
      }
    }
    const question: Question = { settled: false, resumed: 0 }
    first ??= question
    asked.set(String(message.id), { question, read: pageReader(message.method) ?? resultReader(message.method) ?? greetingReader(message.method) })
    // Whoever never answers leaves nothing behind. What is forgotten has the limits of its caller.
    for (const [oldest, forgotten] of asked) {
      if (asked.size <= MAX_ASKED) break
      forgotten.question.settled = true
      asked.delete(oldest)
    }
    try {
      return await sending(question, () => send(message, options))
    } catch (error) {
      question.settled = true
      throw error
    }
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only this
  transport.onmessage = (message) => {
    const { id, result } = message as { readonly id?: unknown; readonly result?: unknown }
    const answered = 'method' in message ? undefined : asked.get(String(id))
    if (answered === undefined) return
    answered.question.settled = true
    asked.delete(String(id))
    if (!isJsonObject(result)) return
    leaveOutNulls(result)
    answered.read?.(result)
  }
}

/** Many servers write out what they leave empty, and the SDK takes null for nothing nowhere. */
function leaveOutNulls(result: { [member: string]: unknown }): void {
  for (const [name, value] of Object.entries(result)) if (value === null) delete result[name]
}

/** How a server introduces itself. */
function greetingReader(method: string): ((result: { capabilities?: unknown; serverInfo?: unknown }) => void) | undefined {
  if (method !== 'initialize') return undefined
  return (greeting) => {
    greeting.capabilities = withoutNulls(greeting.capabilities)
    greeting.serverInfo = withoutNulls(greeting.serverInfo)
  }
}
