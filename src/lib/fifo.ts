/** A queue. To take the first of a long array moves all others, so that to empty it costs the square of its length. */
export class Fifo<T> {
  #items: T[] = []
  #head = 0

  push(item: T): void {
    this.#items.push(item)
  }

  /** Takes the first; undefined if there is none. */
  shift(): T | undefined {
    const item = this.#items[this.#head]
    if (this.#head < this.#items.length) this.#head++
    // What was taken is let go of once it is half of the array: on average, each item is moved once.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
