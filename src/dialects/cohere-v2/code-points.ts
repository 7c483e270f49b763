/** The distance in code points between two remembered places. */
const STRIDE = 64

const isPair = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00

/** Finds places by code points in a growing text. Each lookup costs the same, wherever the place is and however many lookups there are. */
export class CodePoints {
  /** UTF-16 offsets of every sixty-fourth code point. */
  readonly #marks: number[] = [0]
  /** Code points and code units counted so far. */
  #points = 0
  #units = 0

  /** The UTF-16 offset of the place that is this many code points after the UTF-16 offset `base`. */
  offset(text: string, base: number, points: number): number {
    this.#count(text)
    const wanted = this.#pointsBefore(text, Math.min(base, text.length)) + points
    const mark = Math.min(Math.floor(wanted / STRIDE), this.#marks.length - 1)
    let at = this.#marks[mark]!
    for (let left = wanted - mark * STRIDE; left > 0 && at < text.length; left--) at += isPair(text, at) ? 2 : 1
    return at
  }

  #count(text: string): void {
    while (this.#units < text.length) {
      // The second half of a surrogate pair may not have arrived yet.
      if (this.#units === text.length - 1 && (text.charCodeAt(this.#units) & 0xfc00) === 0xd800) return
      this.#units += isPair(text, this.#units) ? 2 : 1
      if (++this.#points % STRIDE === 0) this.#marks.push(this.#units)
    }
  }

  #pointsBefore(text: string, base: number): number {
    let low = 0
    for (let high = this.#marks.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1
      if (this.#marks[middle]! <= base) low = middle
      else high = middle - 1
    }
    let points = low * STRIDE
    for (let at = this.#marks[low]!; at < base; points++) at += isPair(text, at) ? 2 : 1
    return points
  }
}
