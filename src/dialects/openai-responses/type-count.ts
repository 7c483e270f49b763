/** Different types that are counted: upstreams choose their names. */
const MAX_TYPES = 64

/** How often frames of a type came. */
export class TypeCount {
  readonly counts = new Map<string, number>()

  note(type: string): void {
    const known = this.counts.get(type)
    if (known !== undefined || this.counts.size < MAX_TYPES) this.counts.set(type, (known ?? 0) + 1)
  }
}
