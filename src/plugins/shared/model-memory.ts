import { createHash } from 'node:crypto'
import type { Call } from '../../core/call.ts'
import type { ModelRequest } from '../../core/request.ts'

type Conversation = Pick<Call, 'owner' | 'sessionId' | 'clock'>

const TTL_MS = 10 * 60_000
const MAX_SESSIONS = 20_000
const OPENING_CHARS = 2_000

/**
 * The models that conversations ended up with, for routers that choose anew each turn. A conversation is identified by the caller's own key for it, or by
 * how it begins. Kept in this process only: it is a preference, not a promise.
 */
export class ModelMemory {
  readonly #sessions = new Map<string, { readonly model: string; readonly until: number }>()

  /** Undefined for the first turn of a conversation without a key, since others may begin with the same text. */
  recall(call: Conversation, request: ModelRequest): string | undefined {
    const isLater = request.input.some((item) => (item as { readonly role?: unknown }).role === 'assistant')
    const key = explicitKey(call, request) ?? (isLater ? openingOf(request) : undefined)
    if (key === undefined) return undefined
    const known = this.#sessions.get(hashed(call, key))
    return known === undefined || known.until <= call.clock.now() ? undefined : known.model
  }

  remember(call: Conversation, request: ModelRequest, model: string): void {
    const key = explicitKey(call, request) ?? openingOf(request)
    if (key === undefined) return
    const hash = hashed(call, key)
    this.#sessions.delete(hash)
    if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value!)
    this.#sessions.set(hash, { model, until: call.clock.now() + TTL_MS })
  }
}

const explicitKey = ({ sessionId }: Conversation, request: ModelRequest): string | undefined =>
  request.session_id ?? sessionId ?? request.prompt_cache_key ?? undefined

function openingOf({ instructions, input }: ModelRequest): string | undefined {
  const first = input.find((item) => (item as { readonly role?: unknown }).role === 'user')
  if (first === undefined) return undefined
  return `${(instructions ?? '').slice(0, OPENING_CHARS)}\n${JSON.stringify((first as { readonly content?: unknown }).content).slice(0, OPENING_CHARS)}`
}

const hashed = ({ owner }: Conversation, key: string): string => createHash('sha256').update(`${owner.workspaceId}\n${key}`).digest('base64')
