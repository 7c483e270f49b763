/** Counts a byte sequence in the chunks of one body, even if it is cut by a chunk boundary. */
export class NeedleCounter {
  readonly #needle: Buffer
  #tail: Buffer = Buffer.alloc(0)
  count = 0

  constructor(needle: string) {
    this.#needle = Buffer.from(needle)
  }

  push(chunk: Buffer): void {
    const overlap = this.#needle.length - 1
    // Only finds matches that cross the boundary, because the tail alone is shorter than the needle.
    if (this.#tail.length > 0) this.#scan(Buffer.concat([this.#tail, chunk.subarray(0, overlap)]))
    this.#scan(chunk)
    this.#tail = chunk.length >= overlap ? chunk.subarray(chunk.length - overlap) : Buffer.concat([this.#tail, chunk]).subarray(-overlap)
  }

  reset(): void {
    this.#tail = this.#tail.subarray(0, 0)
    this.count = 0
  }

  #scan(bytes: Buffer): void {
    for (let at = bytes.indexOf(this.#needle); at !== -1; at = bytes.indexOf(this.#needle, at + this.#needle.length)) this.count++
  }
}
