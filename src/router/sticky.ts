import type { ModelRequest } from '../core/request.ts'
import type { Clock } from '../lib/clock.ts'
import { longestMark } from './cache-marks.ts'
import { hash64, sampleText } from './hash.ts'
import type { RankSession } from './rank.ts'

/** Where pins can be shared between processes. Reads are awaited before planning, within a limit; writes are not awaited. */
export interface PinStore {
  /** Endpoint id, or undefined. */
  get(key: string, signal: AbortSignal): Promise<string | undefined>
  /** `moved`: the session was pinned elsewhere before, which other processes may still believe. */
  set(key: string, endpointId: string, ttlMs: number, moved: boolean): void
  /** Calls back with pins that other processes moved. */
  listen?(handler: (pin: { readonly key: string; readonly endpointId: string }) => void): void
}

/** The session of one call. */
export interface StickySession extends RankSession {
  /** Hash of workspace and session key: the key of its pins. */
  readonly id: string
  /** How long a pin of this session lives without use, ms. */
  readonly ttlMs: number
}

export interface Served {
  /** Slug of the model that answered. */
  readonly model: string
  readonly endpointId: string
  readonly cachedTokens: number
}

export interface Sticky {
  /** Finds the session of a call: `session_id`, or `prompt_cache_key`, or the opening messages. Undefined if there is none of them. */
  open(workspaceId: string, request: ModelRequest, sessionId?: string): StickySession | undefined
  /** Loads the pins of these models from the shared store into the table. Resolves within `limitMs`, never rejects. */
  load(session: StickySession, models: readonly string[]): Promise<void>
  /** A call of the session was served. Sets, refreshes or moves its pin; `manual` calls (`provider.order`) leave it alone. */
  succeeded(session: StickySession, served: Served, manual?: boolean): void
  readonly size: number
  /** Whether pins are shared with other processes; otherwise `load` does nothing. */
  readonly shared: boolean
}

export interface StickyOptions {
  readonly clock: Clock
  readonly store?: PinStore
  /** How long a shared pin may be waited for, ms. */
  readonly limitMs?: number
  readonly maxEntries?: number
  readonly maxBytes?: number
}

interface Pin {
  endpointId: string
  until: number
}

const MINUTE = 60_000
const LEAST_TTL_MS = 10 * MINUTE
const LONGEST_TTL_MS = 24 * 60 * MINUTE
/** Map slot, pin object and key string; the endpoint's id is shared with the catalog. */
const ENTRY_BYTES = 160

/**
 * Keeps sessions on the endpoint that holds their prompt cache. Looking for a pin, if there are any, costs one hash of at most 1.3 KB of text per
 * call (about 2 microseconds for opening messages, 0.2 for an explicit key) and a map access.
 */
export function createSticky(options: StickyOptions): Sticky {
  const { clock, store } = options
  const limitMs = options.limitMs ?? 25
  const maxEntries = Math.min(options.maxEntries ?? 100_000, Math.floor((options.maxBytes ?? 32 * 1024 * 1024) / ENTRY_BYTES))
  const pins = new Map<string, Pin>()

  const find = (key: string): Pin | undefined => {
    const pin = pins.get(key)
    if (pin === undefined || pin.until > clock.now()) return pin
    pins.delete(key)
    return undefined
  }
  const put = (key: string, endpointId: string, ttlMs: number): void => {
    pins.delete(key)
    if (pins.size >= maxEntries) {
      const oldest = pins.keys().next()
      if (!oldest.done) pins.delete(oldest.value)
    }
    pins.set(key, { endpointId, until: clock.now() + ttlMs })
  }

  const table: PinTable = { isEmpty: () => pins.size === 0, find }

  store?.listen?.(({ key, endpointId }) => {
    const pin = find(key)
    if (pin !== undefined) pin.endpointId = endpointId
  })

  return {
    open(workspaceId, request, sessionId) {
      const explicit = nonEmpty(request.session_id) ?? nonEmpty(sessionId) ?? nonEmpty(request.prompt_cache_key)
      const key = explicit ?? openingKey(request)
      if (key === undefined) return undefined
      const text = `${explicit === undefined ? 'o' : 'k'}\u0000${workspaceId}\u0000${key}`
      return new Session(text, explicit !== undefined, request, table)
    },
    async load(session, models) {
      if (store === undefined) return
      const missing = models.filter((model) => find(`${session.id}/${model}`) === undefined)
      if (missing.length === 0) return
      const controller = new AbortController()
      const { promise: limit, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(() => {
        controller.abort()
        resolve()
      }, limitMs)
      const fetch = Promise.all(
        missing.map(async (model) => {
          const key = `${session.id}/${model}`
          const endpointId = await store.get(key, controller.signal)
          if (endpointId !== undefined && !controller.signal.aborted && find(key) === undefined) put(key, endpointId, session.ttlMs)
        }),
        // A slow or missing store costs affinity, never an answer.
      ).catch(() => undefined)
      await Promise.race([fetch, limit])
      clearTimeout(timer)
    },
    succeeded(session, served, manual = false) {
      if (manual) return
      if (!session.explicit && served.cachedTokens <= 0 && pins.size === 0) return
      const key = `${session.id}/${served.model}`
      // If the caller did not name it, a session begins with the first proof that there is a cache to keep.
      const before = find(key)?.endpointId
      if (!session.explicit && served.cachedTokens <= 0 && before === undefined) return
      put(key, served.endpointId, session.ttlMs)
      store?.set(key, served.endpointId, session.ttlMs, before !== undefined && before !== served.endpointId)
    },
    get size() {
      return pins.size
    },
    shared: store !== undefined,
  }
}

interface PinTable {
  isEmpty(): boolean
  find(key: string): Pin | undefined
}

/** Hash and lifetime are computed only when needed, because most sessions have no pin. */
class Session implements StickySession {
  readonly explicit: boolean
  readonly #request: ModelRequest
  readonly #text: string
  readonly #table: PinTable
  #hash: ReturnType<typeof hash64> | undefined

  constructor(text: string, explicit: boolean, request: ModelRequest, table: PinTable) {
    this.#text = text
    this.explicit = explicit
    this.#request = request
    this.#table = table
  }

  get id(): string {
    const { high, low } = this.#hashed()
    return `${high.toString(36)}.${low.toString(36)}`
  }

  get ttlMs(): number {
    return pinTtl(this.#request)
  }

  get seed(): number {
    const { high, low } = this.#hashed()
    return (high ^ low) >>> 0
  }

  pinned(model: string): string | undefined {
    return this.#table.isEmpty() ? undefined : this.#table.find(`${this.id}/${model}`)?.endpointId
  }

  #hashed(): ReturnType<typeof hash64> {
    return (this.#hash ??= hash64(this.#text))
  }
}

const nonEmpty = (text: string | null | undefined): string | undefined => (text === null || text === undefined || text === '' ? undefined : text)

/** The first system or developer message (or the instructions) and the first other message, sampled. */
function openingKey(request: ModelRequest): string | undefined {
  let system = nonEmpty(request.instructions)
  let first: string | undefined
  for (const item of request.input) {
    if (item.type !== 'message') continue
    const { role, content } = item as { readonly role?: unknown; readonly content?: unknown }
    if (role === 'system' || role === 'developer') system ??= textOf(content)
    else first ??= textOf(content)
    if (first !== undefined && system !== undefined) break
  }
  if (first === undefined) return undefined
  return `${sampleText(system ?? '')}\u0000${sampleText(first)}`
}

/** The text of a content; of media only the position and length. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  let text = ''
  for (const part of content as readonly { readonly [key: string]: unknown }[]) {
    if (typeof part['text'] === 'string') text += part['text']
    for (const field of ['image_url', 'file_url', 'file_data', 'video_url']) {
      const value = part[field]
      if (typeof value === 'string') text += `${field}${value.length}${value.slice(0, 64)}${value.slice(-64)}`
    }
  }
  return text
}

const UNITS: { readonly [unit: string]: number } = { s: 1_000, m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE }

/** The longer of ten minutes and the cache lifetime that the request declares, at most a day. */
export function pinTtl(request: ModelRequest): number {
  const declared = [request.cache_control?.ttl, request.prompt_cache_options?.ttl, request['prompt_cache_retention'], longestMark(request)]
  let ttl = LEAST_TTL_MS
  for (const value of declared) {
    const match = typeof value === 'string' ? /^(\d{1,6})\s*([smhd])$/.exec(value.trim()) : null
    if (match !== null) ttl = Math.max(ttl, Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0))
  }
  return Math.min(ttl, LONGEST_TTL_MS)
}
