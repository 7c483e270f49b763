import type { Catalog } from '../../core/endpoint.ts'

const VERSION = /(?<=[a-z]-?)(\d{1,2})(?:[.-](\d{1,2}))?(?![a-z\d])/
const DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{6,8}|\d{4})(?=$|-)/g

const known = new WeakMap<Catalog, ReadonlyMap<string, number>>()

/**
 * Release dates of models in Unix seconds, by slug. If the catalog has none, a model is assumed to have come right after the last one of its family with a
 * lower version; a model of which nothing is known counts as the oldest, 0.
 */
export function releaseDates(catalog: Catalog): ReadonlyMap<string, number> {
  let dates = known.get(catalog)
  if (dates === undefined) {
    dates = findDates(catalog)
    known.set(catalog, dates)
  }
  return dates
}

interface Release {
  readonly slug: string
  readonly version: number
  readonly created: number
}

function findDates(catalog: Catalog): ReadonlyMap<string, number> {
  const families = new Map<string, Release[]>()
  for (const { slug, created } of catalog.models()) {
    const plain = slug.toLowerCase().replace(DATE, '')
    const match = VERSION.exec(plain)
    const family = plain.replace(VERSION, '#')
    const version = match === null ? 0 : Number(match[1]) + Number(match[2] ?? 0) / 100
    const members = families.get(family) ?? []
    members.push({ slug, version, created })
    families.set(family, members)
  }
  const dates = new Map<string, number>()
  for (const members of families.values()) {
    let last = 0
    for (const { slug, created } of members.toSorted((a, b) => a.version - b.version || a.created - b.created)) {
      const date = created > 0 ? created : last === 0 ? 0 : last + 1
      dates.set(slug, date)
      last = Math.max(last, date)
    }
  }
  return dates
}
