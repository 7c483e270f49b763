/** Percentiles of a measure. At `p90` nine of ten requests were this good or better; good means low or high, depending on the measure. */
export interface Quantiles {
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
}

/** Each bin is a tenth wider than the one before, so a value that is read back errs by at most half a bin, 4.9 %. */
const GROWTH = 1.1
export const SKETCH_ERROR = Math.sqrt(GROWTH) - 1
const BINS = 128
const LOG_GROWTH = Math.log(GROWTH)
const MAX_COUNT = 0xffff

/**
 * Percentiles over a rolling window in fixed memory: a ring of time slots, each a histogram with logarithmic bins, and their running sum. The window
 * moves by a slot at a time, so it covers between (slots - 1) and `slots` whole slots. 3 KB at ten slots. Values are clamped to [lowest, lowest *
 * 1.1^128] (a factor of 198,000).
 */
export class QuantileRing {
  readonly #lowest: number
  readonly #slotMs: number
  readonly #slots: number
  readonly #counts: Uint16Array
  readonly #sum: Uint32Array
  #total = 0
  #current = -1
  /** Called for each endpoint of a plan; a comparison is cheaper than a division. */
  #currentEndsAt = 0
  readonly #highIsGood: boolean
  #quantiles: Quantiles | undefined
  #stale = true

  constructor(options: { readonly lowest: number; readonly slots: number; readonly slotMs: number; readonly highIsGood: boolean }) {
    this.#lowest = options.lowest
    this.#slots = options.slots
    this.#slotMs = options.slotMs
    this.#highIsGood = options.highIsGood
    this.#counts = new Uint16Array(options.slots * BINS)
    this.#sum = new Uint32Array(BINS)
  }

  add(value: number, now: number): void {
    if (!(value >= 0)) return
    this.advance(now)
    const bin = Math.min(BINS - 1, Math.max(0, Math.floor(Math.log(value / this.#lowest) / LOG_GROWTH)))
    const at = (this.#current % this.#slots) * BINS + bin
    if (this.#counts[at] === MAX_COUNT) return
    this.#counts[at]!++
    this.#sum[bin]!++
    this.#total++
    this.#stale = true
  }

  /** Forgets slots that left the window. */
  advance(now: number): void {
    if (now < this.#currentEndsAt) return
    const slot = Math.floor(now / this.#slotMs)
    if (slot <= this.#current) return
    const expired = this.#current < 0 ? 0 : Math.min(slot - this.#current, this.#slots)
    for (let n = 1; n <= expired; n++) this.#clear((this.#current + n) % this.#slots)
    this.#current = slot
    this.#currentEndsAt = (slot + 1) * this.#slotMs
  }

  #clear(slot: number): void {
    if (this.#total === 0) return
    for (let bin = 0, at = slot * BINS; bin < BINS; bin++, at++) {
      const count = this.#counts[at]!
      if (count === 0) continue
      this.#counts[at] = 0
      this.#sum[bin]! -= count
      this.#total -= count
    }
    this.#stale = true
  }

  /** Until then nothing leaves the window. */
  get currentEndsAt(): number {
    return this.#currentEndsAt
  }

  get total(): number {
    return this.#total
  }

  /** Undefined if the window is empty. Computed once per change. */
  quantiles(): Quantiles | undefined {
    if (this.#stale) {
      this.#stale = false
      this.#quantiles = this.#total === 0 ? undefined : { p50: this.#at(0.5), p75: this.#at(0.75), p90: this.#at(0.9), p99: this.#at(0.99) }
    }
    return this.#quantiles
  }

  /** Nearest rank; the value is the middle of its bin. */
  #at(share: number): number {
    const rank = this.#highIsGood ? Math.max(1, this.#total - Math.ceil(share * this.#total) + 1) : Math.max(1, Math.ceil(share * this.#total))
    let seen = 0
    for (let bin = 0; bin < BINS; bin++) {
      seen += this.#sum[bin]!
      if (seen >= rank) return this.#lowest * GROWTH ** (bin + 0.5)
    }
    return this.#lowest * GROWTH ** BINS
  }
}

/** Good and bad outcomes over a rolling window of `slots` slots. */
export class OutcomeRing {
  readonly #slotMs: number
  readonly #good: Uint32Array
  readonly #bad: Uint32Array
  #current = -1
  #currentEndsAt = 0
  good = 0
  bad = 0

  constructor(slots: number, slotMs: number) {
    this.#slotMs = slotMs
    this.#good = new Uint32Array(slots)
    this.#bad = new Uint32Array(slots)
  }

  add(good: boolean, now: number): void {
    this.advance(now)
    const at = this.#current % this.#good.length
    if (good) {
      this.#good[at]!++
      this.good++
    } else {
      this.#bad[at]!++
      this.bad++
    }
  }

  advance(now: number): void {
    if (now < this.#currentEndsAt) return
    const slot = Math.floor(now / this.#slotMs)
    if (slot <= this.#current) return
    const slots = this.#good.length
    const expired = this.#current < 0 ? 0 : Math.min(slot - this.#current, slots)
    for (let n = 1; n <= expired; n++) {
      const at = (this.#current + n) % slots
      this.good -= this.#good[at]!
      this.bad -= this.#bad[at]!
      this.#good[at] = 0
      this.#bad[at] = 0
    }
    this.#current = slot
    this.#currentEndsAt = (slot + 1) * this.#slotMs
  }

  clear(): void {
    this.#good.fill(0)
    this.#bad.fill(0)
    this.good = 0
    this.bad = 0
  }

  /** Share of good outcomes, 0 to 1; undefined if there are none. */
  share(): number | undefined {
    const total = this.good + this.bad
    return total === 0 ? undefined : this.good / total
  }
}
