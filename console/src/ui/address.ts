import { useSearchParams } from 'wouter'

export interface Address {
  /** A parameter of the address; '' when it is not there. */
  readonly get: (name: string) => string
  /** Sets some of them; what is '' goes. What is typed replaces the entry of the history, what is opened makes one. */
  readonly set: (next: { readonly [name: string]: string }, options?: { readonly replace?: boolean }) => void
}

/** State one would share or come back to. */
export function useAddress(): Address {
  const [search, setSearch] = useSearchParams()
  return {
    get: (name) => search.get(name) ?? '',
    set: (next, options = {}) =>
      setSearch((before) => {
        const after = new URLSearchParams(before)
        for (const [name, value] of Object.entries(next)) {
          if (value === '') after.delete(name)
          else after.set(name, value)
        }
        return after
      }, options),
  }
}
