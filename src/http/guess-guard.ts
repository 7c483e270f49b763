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
/** Of keys in use, in each of two generations. A job that runs once a day goes on working, too. */
const MAX_KEYS = 5_000
const GENERATION_MS = 24 * 60 * WINDOW_MS
const MAX_PLACES = 8

interface Visitor {
  wrong: number
  windowEnds: number
  seenAt: number
}

/** Addresses a good key was used from lately, the latest last. */
type Places = string[]

/**
 * Slows down who guesses keys. Keys made by the gateway cannot be guessed; those an operator chose may be. An address that has tried too
 * many wrong keys is refused for the rest of the minute, a right guess like a wrong one, so that nothing is learned; keys that were in use
 * there before go on working, for many callers may share an address. So it has to be known of every good key where it is used, before
 * anybody guesses: every call asks, and nearly every one is answered by one look into a map.
 */
export class GuessGuard {
  readonly #options: GuessGuardOptions
  readonly #visitors = new Map<string, Visitor>()
  /** By hash of the key. What was not used in two generations is forgotten. */
  #inUse = new Map<string, Places>()
  #usedBefore = new Map<string, Places>()
  #generationEnds = 0

  constructor(options: GuessGuardOptions) {
    this.#options = options
  }

  /** False where any number of wrong keys may be tried: then there is nothing to ask. */
  get watching(): boolean {
    return this.#options.wrongKeysPerMinute() !== null
  }

  /** A good key is used. Throws GatewayError `rate_limit_exceeded` when it may be a guess that came true. */
  right(address: string | undefined, keyHash: string): void {
    const place = address ?? ''
    const places = this.#inUse.get(keyHash)
    if (places?.includes(place) !== true) this.#newPlace(place, keyHash)
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
    if (now >= this.#generationEnds) this.#nextGeneration(now)
    const network = networkOf(address)
    let visitor = this.#visitors.get(network)
    if (visitor === undefined) {
      this.#makeRoom(now)
      visitor = { wrong: 0, windowEnds: 0, seenAt: now }
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

  /** Not seen there in this generation. */
  #newPlace(place: string, keyHash: string): void {
    const visitor = this.#visitors.size === 0 ? undefined : this.#visitors.get(networkOf(place))
    const now = this.#options.clock.monotonic()
    if (visitor !== undefined && this.#over(visitor, now) && !this.#wasUsedIn(networkOf(place), keyHash))
      throw tooManyGuesses(visitor.windowEnds - now)
    if (this.#inUse.size >= MAX_KEYS) this.#nextGeneration(now)
    const places = this.#inUse.get(keyHash)
    if (places === undefined) this.#inUse.set(keyHash, [place])
    else {
      if (places.length >= MAX_PLACES) places.shift()
      places.push(place)
    }
  }

  #wasUsedIn(network: string, keyHash: string): boolean {
    return [this.#inUse, this.#usedBefore].some((keys) => keys.get(keyHash)?.some((place) => networkOf(place) === network) === true)
  }

  #nextGeneration(now: number): void {
    this.#usedBefore = this.#inUse
    this.#inUse = new Map()
    this.#generationEnds = now + GENERATION_MS
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
