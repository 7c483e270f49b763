import type * as Sdk from '@modelcontextprotocol/client'
import type { JsonObject } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'
import { resultReader } from './result.ts'
import { pageReader } from './tool-list.ts'

/** Questions that may wait for their answers at once. */
const MAX_ASKED = 256

/**
 * The SDK takes an answer whole or not at all: for one tool of a list that is none, for one part of a result that it does not know. Answers
 * lose what cannot be read before they reach it. To be called before the SDK connects: it hears messages after whoever listened before.
 */
export function readLeniently(transport: Pick<Sdk.Transport, 'send' | 'onmessage'>): void {
  const asked = new Map<unknown, (result: JsonObject) => void>()
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    if (!('method' in message) || !('id' in message)) return await send(message, options)
    const read = pageReader(message.method) ?? resultReader(message.method)
    if (read === undefined) return await send(message, options)
    asked.set(message.id, read)
    // Whoever never answers leaves nothing behind.
    for (const oldest of asked.keys()) if (asked.size > MAX_ASKED) asked.delete(oldest)
    return await send(message, options)
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has only this
  transport.onmessage = (message) => {
    const { id, result } = message as { readonly id?: unknown; readonly result?: unknown }
    const read = 'method' in message ? undefined : asked.get(id)
    if (read === undefined) return
    asked.delete(id)
    if (isJsonObject(result)) read(result)
  }
}
