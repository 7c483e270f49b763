interface Cell<V> {
  value: V | undefined
}

/**
 * A map for what comes and goes with every call. V8's own keeps each table it has outgrown, with everything that was in it, and points from it to
 * the next (`OrderedHashTable`): once one such table is old, young collections take all that follow for alive, and everything that was ever in
 * the map stays until a full collection. Here what is taken out leaves an empty cell and its key behind, so keys are small.
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

  /** Does nothing where it has been deleted before: somebody else may have the place. */
  delete(place: number, value: V): void {
    if (this.#places[place] !== value) return
    this.#places[place] = undefined
    this.#free.push(place)
  }

  *[Symbol.iterator](): Generator<V> {
    for (const value of this.#places) if (value !== undefined) yield value
  }
}
