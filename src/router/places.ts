import type { Group } from './filter.ts'
import type { EndpointState } from './health.ts'

/** One place in the order: an endpoint, with the gateway's credentials or the caller's own. */
export interface Ranked {
  readonly group: Group
  readonly index: number
  readonly ownKey: boolean
  readonly pinned: boolean
  readonly state: EndpointState
  readonly slow: boolean
  readonly rank: number
  readonly key: number
  readonly price: number
  /** How often the first place is drawn for this one. Undefined: nothing was drawn. */
  readonly share: number | undefined
}

/** Places kept per model: more than a call may ever try (6 on one provider), and few enough to make long lists cheap. */
export const PLACES_PER_MODEL = 16

/** Lower prices weigh alike, because a free endpoint must not divide by zero. USD per million. */
const LEAST_PRICE = 0.01
export const FLAG = { ownKey: 1, pinned: 2, slow: 4 } as const

const STATES: readonly EndpointState[] = ['healthy', 'outage', 'benched', 'probe']
export const OUTAGE = STATES.indexOf('outage')
export const BENCHED = STATES.indexOf('benched')
export const stateCode = (state: EndpointState): number => (state === 'healthy' ? 0 : STATES.indexOf(state))

/**
 * The price of an endpoint in the balance; its chance is the inverse square of this. `pull` is the square root of the operator's weight, so that twice the
 * weight means twice the chance; with 0 it has no chance while another endpoint has one.
 */
export const balancePrice = (price: number, pull: number): number => (price < LEAST_PRICE ? LEAST_PRICE : price) / pull

const chanceOf = (balance: number): number => 1 / (balance * balance)

/** Weighted rendezvous hashing: the smallest of these wins, with a chance in proportion to its weight. `draw`: uniform in (0, 1), by session and endpoint. */
const rendezvousKey = (draw: number, balance: number): number => -Math.log(draw) * balance * balance

/** The places of one model while it is ranked, as columns of numbers. */
class Places {
  #size = 0
  #ranks = new Float64Array(64)
  #keys = new Float64Array(64)
  #prices = new Float64Array(64)
  #balances = new Float64Array(64)
  #indexes = new Int32Array(64)
  #flags = new Uint8Array(64)
  #states = new Uint8Array(64)
  /** The rank from which the first place was drawn (undefined if nothing was drawn), and the chances of all places of that rank. */
  #drawnFrom: number | undefined
  #allChances = 0
  #key = 0
  #price = 0
  #balance = 0
  readonly #chosen = new Int32Array(PLACES_PER_MODEL)

  /** Clears the last model and makes room. */
  reset(capacity: number): void {
    this.#size = 0
    this.#drawnFrom = undefined
    if (capacity <= this.#ranks.length) return
    this.#ranks = new Float64Array(capacity * 2)
    this.#keys = new Float64Array(capacity * 2)
    this.#prices = new Float64Array(capacity * 2)
    this.#balances = new Float64Array(capacity * 2)
    this.#indexes = new Int32Array(capacity * 2)
    this.#flags = new Uint8Array(capacity * 2)
    this.#states = new Uint8Array(capacity * 2)
  }

  /** Sort key, price and `balancePrice` of the places added next. Separate from `add`, whose arguments are then integers only, which V8 does not box. */
  weigh(key: number, price: number, balance: number): void {
    this.#key = key
    this.#price = price
    this.#balance = balance
  }

  add(rank: number, index: number, flags: number, state: number): void {
    const at = this.#size++
    this.#ranks[at] = rank
    this.#keys[at] = this.#key
    this.#prices[at] = this.#price
    this.#balances[at] = this.#balance
    this.#indexes[at] = index
    this.#flags[at] = flags
    this.#states[at] = state
  }

  /** Draws one of the places of the best rank, by the inverse square of its balance price, and puts it first. If none has a chance, nothing is drawn. */
  draw(random: () => number): void {
    const ranks = this.#ranks
    const balances = this.#balances
    let best = Infinity
    for (let n = 0; n < this.#size; n++) if (ranks[n]! < best) best = ranks[n]!
    let total = 0
    let candidates = 0
    for (let n = 0; n < this.#size; n++) {
      if (ranks[n] !== best) continue
      total += chanceOf(balances[n]!)
      candidates++
    }
    if (total === 0) return
    this.#drawnFrom = best
    this.#allChances = total
    if (candidates < 2) return
    let left = random() * total
    let drawn = -1
    for (let n = 0; n < this.#size && left >= 0; n++) {
      const chance = ranks[n] === best ? chanceOf(balances[n]!) : 0
      if (chance === 0) continue
      drawn = n
      left -= chance
    }
    if (drawn >= 0) this.#keys[drawn] = -1
  }

  /** The first places in order: insertion into a short list, linear in the number of endpoints. `drawn`: the keys are draws of a rendezvous. */
  first(group: Group, drawn: boolean): Ranked[] {
    const chosen = this.#chosen
    let length = 0
    for (let n = 0; n < this.#size; n++) {
      if (drawn && (length < PLACES_PER_MODEL || this.#mayPrecede(n, chosen[length - 1]!)))
        this.#keys[n] = rendezvousKey(this.#keys[n]!, this.#balances[n]!)
      else if (drawn) continue
      if (length === PLACES_PER_MODEL && !this.#before(n, chosen[length - 1]!)) continue
      let at = length < PLACES_PER_MODEL ? length++ : length - 1
      while (at > 0 && this.#before(n, chosen[at - 1]!)) {
        chosen[at] = chosen[at - 1]!
        at--
      }
      chosen[at] = n
    }
    const result: Ranked[] = []
    for (let at = 0; at < length; at++) result.push(this.#ranked(group, chosen[at]!))
    return result
  }

  /** Whether a draw can come before a place whose key is known, without computing its logarithm: -ln(x) is never less than 1 - x. */
  #mayPrecede(drawn: number, place: number): boolean {
    if (this.#ranks[drawn] !== this.#ranks[place]) return this.#ranks[drawn]! < this.#ranks[place]!
    const balance = this.#balances[drawn]!
    return (1 - this.#keys[drawn]!) * balance * balance <= this.#keys[place]!
  }

  #before(a: number, b: number): boolean {
    if (this.#ranks[a] !== this.#ranks[b]) return this.#ranks[a]! < this.#ranks[b]!
    if (this.#keys[a] !== this.#keys[b]) return this.#keys[a]! < this.#keys[b]!
    if (this.#prices[a] !== this.#prices[b]) return this.#prices[a]! < this.#prices[b]!
    return a < b
  }

  #ranked(group: Group, n: number): Ranked {
    const flags = this.#flags[n]!
    return {
      group,
      index: this.#indexes[n]!,
      ownKey: (flags & FLAG.ownKey) !== 0,
      pinned: (flags & FLAG.pinned) !== 0,
      slow: (flags & FLAG.slow) !== 0,
      state: STATES[this.#states[n]!]!,
      rank: this.#ranks[n]!,
      key: this.#keys[n]!,
      price: this.#prices[n]!,
      share: this.#shareOf(n),
    }
  }

  #shareOf(n: number): number | undefined {
    if (this.#drawnFrom === undefined) return undefined
    return this.#ranks[n] === this.#drawnFrom ? chanceOf(this.#balances[n]!) / this.#allChances : 0
  }
}

/** One table for all plans: ranking is synchronous and calls nothing that plans. */
export const places = new Places()
