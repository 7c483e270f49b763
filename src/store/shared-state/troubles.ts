/** What Redis does not do, by who has found it; whoever listens is told when the first begins and when the last is over. */
export interface Troubles {
  /** Undefined: it does what this one asks of it (again). */
  tell(who: string, error: Error | undefined): void
  readonly any: boolean
}

export function createTroubles(onTrouble: (error: Error | undefined) => void = () => undefined): Troubles {
  const open = new Set<string>()
  return {
    tell(who, error) {
      const before = open.size
      if (error === undefined) open.delete(who)
      else open.add(who)
      if ((before === 0) !== (open.size === 0)) onTrouble(error)
    },
    get any() {
      return open.size > 0
    },
  }
}
