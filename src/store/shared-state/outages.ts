/** Faults of Redis, by who has noticed them. The listener is called when the first begins and when the last is over. */
export interface Outages {
  /** `undefined`: it works (again) for this user. */
  tell(who: string, error: Error | undefined): void
  readonly any: boolean
}

export function createOutages(onTrouble: (error: Error | undefined) => void = () => undefined): Outages {
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
