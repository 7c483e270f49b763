/**
 * A circuit breaker for one endpoint. Closed: requests flow. Open: the endpoint waits at the back of every plan until a probe is due. A probe is one
 * ordinary request, and nobody else probes while it runs. Its success closes the circuit, its failure doubles the wait. Waits are at most 20 s, so
 * that a recovered endpoint is back within 30 s even if requests come seconds apart.
 */
const CONSECUTIVE = 3
/** A busy endpoint may fail three times in a row by chance, so at least half of its recent requests must have failed too. */
const FAILED_SHARE = 0.5
/** With this many failures in a row the share does not matter: the sudden death of a busy endpoint shows within milliseconds. */
const CONSECUTIVE_CERTAIN = 10
const FIRST_WAIT_MS = 5_000
const LONGEST_WAIT_MS = 20_000
/** A probe that never reports (its caller left) gives up its slot after this time. */
const PROBE_LOST_MS = 30_000

export class Breaker {
  #failures = 0
  #wait = 0
  #probingSince = -Infinity
  /** When the next probe is due; 0 while closed. */
  probeAt = 0
  /** The last failure that opened it or kept it open; 0: none. */
  lastOutageAt = 0

  get open(): boolean {
    return this.probeAt > 0
  }

  probing(now: number): boolean {
    return now - this.#probingSince < PROBE_LOST_MS
  }

  /** True if the next request to this endpoint is its probe. */
  probeDue(now: number): boolean {
    return this.open && now >= this.probeAt && !this.probing(now)
  }

  started(now: number): void {
    if (this.probeDue(now)) this.#probingSince = now
  }

  succeeded(): void {
    this.#failures = 0
    this.#wait = 0
    this.probeAt = 0
    this.#probingSince = -Infinity
  }

  /** `recentShare`: the share of failures among recent requests, including this one. */
  failed(now: number, recentShare: number): void {
    this.#failures++
    if (this.open) {
      // Failures of requests sent before it opened are no news.
      if (now >= this.probeAt || this.probing(now)) this.#openFor(now)
      return
    }
    if (this.#failures >= CONSECUTIVE_CERTAIN || (this.#failures >= CONSECUTIVE && recentShare >= FAILED_SHARE)) this.#openFor(now)
  }

  #openFor(now: number): void {
    this.#wait = this.#wait === 0 ? FIRST_WAIT_MS : Math.min(this.#wait * 2, LONGEST_WAIT_MS)
    this.probeAt = now + this.#wait
    this.lastOutageAt = now
    this.#probingSince = -Infinity
  }

  /** The probe ended without saying anything about the endpoint. */
  probeVoid(): void {
    this.#probingSince = -Infinity
  }
}
