interface Cell<V> {
  value: V | undefined
}

/**
 * A map for objects that come and go with every call. V8's own map keeps each table it has outgrown, with its content, and links it to the next
 * (`OrderedHashTable`). Once such a table is in the old generation, young collections treat all later ones as alive, and everything that was ever in
 * the map stays until a full collection. Here a removed entry leaves only an empty cell and its key, so keys should be small.
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

  /** False if there was none. */
  delete(key: K): boolean {
    const cell = this.#cells.get(key)
    if (cell === undefined) return false
    cell.value = undefined
    return this.#cells.delete(key)
  }

  /** In the order they came. */
  *values(): Generator<V> {
    for (const { value } of this.#cells.values()) if (value !== undefined) yield value
  }
}

/** The same for things that need no name: nothing at all stays behind. In no order. */
export class LiveSet<V extends object> {
  readonly #places: (V | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#places.length - this.#free.length
  }

  /** Returns the place to give back with `delete`. */
  add(value: V): number {
    const place = this.#free.pop() ?? this.#places.length
    this.#places[place] = value
    return place
  }

  /** Does nothing if it was deleted before: the place may belong to somebody else by then. */
  delete(place: number, value: V): void {
    if (this.#places[place] !== value) return
    this.#places[place] = undefined
    this.#free.push(place)
  }

  *[Symbol.iterator](): Generator<V> {
    for (const value of this.#places) if (value !== undefined) yield value
  }
}
