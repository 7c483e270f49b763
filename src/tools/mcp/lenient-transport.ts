import type * as Sdk from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Question, sending } from './egress-fetch.ts'
import { withoutNulls } from '../../lib/without-nulls.ts'
import { resultReader } from './result.ts'
import { pageReader } from './tool-list.ts'

interface Asked {
  readonly question: Question
  readonly read: ((result: JsonObject) => void) | undefined
}

/** The most questions that may wait for their answers at once. */
const MAX_ASKED = 256
/** The most answers to the server's questions being sent at once; each is a request of its own. Further questions get no answer. */
const MAX_ANSWERING = 16

/**
 * The SDK accepts an answer only as a whole: it refuses all of it because of one invalid tool in a list, or one unknown part of a result. So unreadable
 * parts are removed before the SDK sees the answer. Must be called before the SDK connects, because its handler runs after earlier ones.
 */
export function readLeniently(transport: Pick<Sdk.Transport, 'send' | 'onmessage'>): void {
  /** By id as text: some servers send ids back as strings. */
  const requests = new Map<string, Asked>()
  const send = transport.send.bind(transport)
  /** The SDK withholds the answer to its first question from this handler: only its next message shows that the answer has arrived. */
  let first: Question | undefined
  let answering = 0
  transport.send = async (message, options) => {
    first?.settle()
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
    const question = new Question()
    first ??= question
    requests.set(String(message.id), { question, read: pageReader(message.method) ?? resultReader(message.method) ?? greetingReader(message.method) })
    // Questions that are never answered must not accumulate. A forgotten one is still limited by its caller.
    for (const [oldest, forgotten] of requests) {
      if (requests.size <= MAX_ASKED) break
      forgotten.question.settle()
      requests.delete(oldest)
    }
    try {
      return await sending(question, () => send(message, options))
    } catch (error) {
      question.settle()
      throw error
    }
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only this
  transport.onmessage = (message) => {
    const { id, result } = message as { readonly id?: unknown; readonly result?: unknown }
    const answered = 'method' in message ? undefined : requests.get(String(id))
    if (answered === undefined) return
    answered.question.settle()
    requests.delete(String(id))
    if (!isJsonObject(result)) return
    leaveOutNulls(result)
    answered.read?.(result)
  }
}

/** Many servers write out empty fields as null, which the SDK accepts nowhere. */
function leaveOutNulls(result: { [member: string]: unknown }): void {
  for (const [name, value] of Object.entries(result)) if (value === null) delete result[name]
}

/** Reads a server's introduction. */
function greetingReader(method: string): ((result: { capabilities?: unknown; serverInfo?: unknown }) => void) | undefined {
  if (method !== 'initialize') return undefined
  return (greeting) => {
    greeting.capabilities = withoutNulls(greeting.capabilities)
    greeting.serverInfo = withoutNulls(greeting.serverInfo)
  }
}
