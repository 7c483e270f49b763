import { useSearchParams } from 'wouter'

export interface Address {
  /** Undefined for what the address does not say. */
  readonly get: (name: string) => string | undefined
  /** Undefined and '' take a name out again. `push` makes a step one can go back from; without it the present one is replaced. */
  readonly set: (changes: { readonly [name: string]: string | undefined }, push?: 'push') => void
}

/** The state of a page that one may send to somebody or come back to: what stands behind the `?` of its address. */
export function useAddress(): Address {
  const [search, setSearch] = useSearchParams()
  return {
    get: (name) => search.get(name) ?? undefined,
    set: (changes, push) => setSearch((now) => changed(now, changes), { replace: push === undefined }),
  }
}

function changed(now: URLSearchParams, changes: { readonly [name: string]: string | undefined }): URLSearchParams {
  const next = new URLSearchParams(now)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  return next
}
