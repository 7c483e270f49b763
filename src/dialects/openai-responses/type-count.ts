/** The most types that are counted, because upstreams choose their names. */
const MAX_TYPES = 64

/** Counts frames by type. */
export class TypeCount {
  readonly counts = new Map<string, number>()

  note(type: string): void {
    const known = this.counts.get(type)
    if (known !== undefined || this.counts.size < MAX_TYPES) this.counts.set(type, (known ?? 0) + 1)
  }
}
