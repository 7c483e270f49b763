import { isIPv6 } from 'node:net'
import { GatewayError } from '../core/error.ts'
import type { Clock } from '../lib/clock.ts'

export interface GuessGuardOptions {
  readonly clock: Clock
  /** Wrong keys an address may try in a minute; null: any number. Asked each time, so that a new configuration counts at once. */
  readonly wrongKeysPerMinute: () => number | null
}

const WINDOW_MS = 60_000
/** An address that did nothing for so long is forgotten. */
const FORGET_MS = 10 * WINDOW_MS
const MAX_ADDRESSES = 2_000
const MAX_KNOWN_KEYS = 1_000

interface Visitor {
  wrong: number
  windowEnds: number
  seenAt: number
  /** Hashes of good keys used from here before the limit was reached: they go on working. */
  readonly known: Set<string>
}

/**
 * Slows down who guesses keys. Keys made by the gateway cannot be guessed; those an operator chose may be. An address that has tried too
 * many wrong keys is refused for the rest of the minute, a right guess like a wrong one, so that nothing is learned; keys that were in use
 * there before go on working, for many callers may share an address. Nothing is kept of addresses that never used a wrong key.
 */
export class GuessGuard {
  readonly #options: GuessGuardOptions
  readonly #visitors = new Map<string, Visitor>()

  constructor(options: GuessGuardOptions) {
    this.#options = options
  }

  /** False while nobody has used a wrong key lately: then there is nothing to ask. */
  get watching(): boolean {
    return this.#visitors.size > 0
  }

  /** A good key is used. Throws GatewayError `rate_limit_exceeded` when it may be a guess that came true. */
  right(address: string | undefined, keyHash: string): void {
    const visitor = this.#visitors.get(networkOf(address))
    if (visitor === undefined) return
    const now = this.#options.clock.monotonic()
    visitor.seenAt = now
    if (visitor.known.has(keyHash)) return
    if (this.#over(visitor, now)) throw tooManyGuesses(visitor.windowEnds - now)
    if (visitor.known.size < MAX_KNOWN_KEYS) visitor.known.add(keyHash)
  }

  /** Before a key that may be wrong is looked up. Throws GatewayError `rate_limit_exceeded` when there were too many; counts nothing. */
  admit(address: string | undefined): void {
    const visitor = this.#visitors.get(networkOf(address))
    if (visitor === undefined) return
    const now = this.#options.clock.monotonic()
    if (this.#over(visitor, now)) throw tooManyGuesses(visitor.windowEnds - now)
  }

  /** A wrong key is used. Throws GatewayError `rate_limit_exceeded` when there were too many. */
  wrong(address: string | undefined): void {
    const limit = this.#options.wrongKeysPerMinute()
    if (limit === null) return
    const now = this.#options.clock.monotonic()
    const network = networkOf(address)
    let visitor = this.#visitors.get(network)
    if (visitor === undefined) {
      this.#makeRoom(now)
      visitor = { wrong: 0, windowEnds: 0, seenAt: now, known: new Set() }
      this.#visitors.set(network, visitor)
    }
    visitor.seenAt = now
    if (now >= visitor.windowEnds) {
      visitor.wrong = 0
      visitor.windowEnds = now + WINDOW_MS
    }
    if (visitor.wrong >= limit) throw tooManyGuesses(visitor.windowEnds - now)
    visitor.wrong += 1
  }

  #over(visitor: Visitor, now: number): boolean {
    const limit = this.#options.wrongKeysPerMinute()
    return limit !== null && visitor.wrong >= limit && now < visitor.windowEnds
  }

  #makeRoom(now: number): void {
    if (this.#visitors.size < MAX_ADDRESSES) return
    for (const [network, { seenAt }] of this.#visitors) if (now - seenAt > FORGET_MS) this.#visitors.delete(network)
    // A flood of addresses: those that came first go first.
    for (const network of this.#visitors.keys()) {
      if (this.#visitors.size < MAX_ADDRESSES) return
      this.#visitors.delete(network)
    }
  }
}

/** Who is one caller: an IPv4 address, or the /64 that one subscriber of IPv6 has for himself. */
function networkOf(address: string | undefined): string {
  if (address === undefined || !isIPv6(address) || address.startsWith('::ffff:')) return address ?? ''
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].slice(0, 4).join(':')
}

const tooManyGuesses = (waitMs: number): GatewayError =>
  new GatewayError('rate_limit_exceeded', 'Too many wrong API keys came from this address; try again later', { retryAfterMs: waitMs })
