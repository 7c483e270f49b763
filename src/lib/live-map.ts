interface Cell<V> {
  value: V | undefined
}

/**
 * A map for objects that exist only for the time of a call. V8's own map keeps each table that it has outgrown, with its content, and links it to the next
 * (`OrderedHashTable`). Once such a table is in the old generation, young collections treat all later tables as alive, and everything that was ever in the
 * map stays until a full collection. Here a removed entry leaves only an empty cell and its key, so keys should be small.
 */
export class LiveMap<K extends string | number, V extends object> {
  readonly #cells = new Map<K, Cell<V>>()

  get size(): number {
    return this.#cells.size
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value
  }

  set(key: K, value: V): void {
    this.delete(key)
    this.#cells.set(key, { value })
  }

  /** Returns false if there was no such entry. */
  delete(key: K): boolean {
    const cell = this.#cells.get(key)
    if (cell === undefined) return false
    cell.value = undefined
    return this.#cells.delete(key)
  }

  /** In the order of insertion. */
  *values(): Generator<V> {
    for (const { value } of this.#cells.values()) if (value !== undefined) yield value
  }
}

/** The same for objects without a key: nothing at all remains after removal. Unordered. */
export class LiveSet<V extends object> {
  readonly #places: (V | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#places.length - this.#free.length
  }

  /** Returns the place, which `delete` needs. */
  add(value: V): number {
    const place = this.#free.pop() ?? this.#places.length
    this.#places[place] = value
    return place
  }

  /** Does nothing if the value was deleted before, because its place may have been reused. */
  delete(place: number, value: V): void {
    if (this.#places[place] !== value) return
    this.#places[place] = undefined
    this.#free.push(place)
  }

  *[Symbol.iterator](): Generator<V> {
    for (const value of this.#places) if (value !== undefined) yield value
  }
}
