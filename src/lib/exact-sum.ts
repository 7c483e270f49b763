/**
 * A sum of many amounts without the rounding errors that add up where numbers are simply added: what each addition cannot hold is kept beside the sum
 * (Knuth's two-sum). The value is as exact as a number can be, and of a few decimals it shows no others.
 */
export class ExactSum {
  sum: number
  /** What the sum could not hold. */
  rest: number

  /** `sum` and `rest` of an earlier one, to go on from there. */
  constructor(sum = 0, rest = 0) {
    this.sum = sum
    this.rest = rest
  }

  add(amount: number): this {
    const sum = this.sum + amount
    const added = sum - this.sum
    this.rest += this.sum - (sum - added) + (amount - added)
    this.sum = sum
    return this
  }

  get value(): number {
    return this.sum + this.rest
  }
}
