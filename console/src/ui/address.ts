import { useSearchParams } from 'wouter'

export interface Address {
  /** Undefined for parameters that the URL does not have. */
  readonly get: (name: string) => string | undefined
  /** Undefined and '' remove a parameter. `push` adds a history entry; without it the current entry is replaced. */
  readonly set: (changes: { readonly [name: string]: string | undefined }, push?: 'push') => void
}

/** The state of a page that can be shared or bookmarked: the query string of its URL. */
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
