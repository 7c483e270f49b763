import { isDeepStrictEqual } from 'node:util'
import { shownValue } from './explain.ts'
import type { ConfigDocument } from './load.ts'
import { isMapping } from './substitute.ts'
import { toConfig } from './to-config.ts'
import { restartNeeded } from './watch.ts'

/** One difference between two configurations, at a path in the file. */
export interface Difference {
  /** Entries of lists are named by what identifies them: `models[acme/small].endpoints[openai].pricing.input`. */
  readonly path: string
  /** `order`: the entries that both lists have stand in another order. */
  readonly kind: 'added' | 'removed' | 'changed' | 'order'
  /** For display; absent for whole entries. Secrets are hidden even if they are what changed. */
  readonly before?: string
  readonly after?: string
  /** Takes effect only after a restart. */
  readonly needsRestart: boolean
}

/** Fields that may identify the entries of a list: the first that every entry has, with a value of its own. */
const IDENTITIES = ['slug', 'name', 'id', 'provider'] as const

const FOR_EDITORS = '$schema'

/** Everything that differs in effect. Writing out a value that was the default before is no difference. */
export function differences(before: ConfigDocument, after: ConfigDocument): readonly Difference[] {
  const found: Difference[] = []
  const restart = restartNeeded(toConfig(before.data, {}, undefined), toConfig(after.data, {}, undefined))
  compare({ was: before.data, is: after.data, rawWas: before.raw, rawIs: after.raw, path: '', steps: [], restart, found })
  return found
}

/** The same place in both configurations, as parsed and as written. */
interface Place {
  readonly was: unknown
  readonly is: unknown
  readonly rawWas: unknown
  readonly rawIs: unknown
  readonly path: string
  readonly steps: readonly string[]
  /** Paths of the settings that take effect only after a restart. */
  readonly restart: readonly string[]
  readonly found: Difference[]
}

type Entry = { readonly [field: string]: unknown }
type Take = (node: unknown, key: string, side: 'was' | 'is') => unknown

function compare(place: Place): void {
  const { was, is, path } = place
  if (isDeepStrictEqual(was, is)) return
  if (isMapping(was) && isMapping(is)) {
    const take: Take = (node, key) => (isMapping(node) ? node[key] : undefined)
    return within(
      place,
      Object.keys({ ...was, ...is }).filter((key) => path !== '' || key !== FOR_EDITORS),
      take,
      (key) => (path === '' ? key : `${path}.${key}`),
    )
  }
  if (!isListOfEntries(was) || !isListOfEntries(is)) return report(place)
  const identity = identityOf(was, is)
  const namesOf = (list: readonly Entry[]): readonly string[] =>
    list.map((entry, position) => String(identity === undefined ? position : entry[identity]))
  const [namesWas, namesIs] = [namesOf(was), namesOf(is)]
  // As written, an entry may be named by a variable, so it is looked up by position and not by that name.
  const take: Take = (node, name, side) => (Array.isArray(node) ? (node[(side === 'was' ? namesWas : namesIs).indexOf(name)] as unknown) : undefined)
  within(place, [...new Set([...namesWas, ...namesIs])], take, (name) => `${path}[${name}]`)
  const before = namesWas.filter((name) => namesIs.includes(name)).join(', ')
  const after = namesIs.filter((name) => namesWas.includes(name)).join(', ')
  if (before !== after) add(place, { kind: 'order', before, after })
}

function within(
  { was, is, rawWas, rawIs, steps, restart, found }: Place,
  keys: readonly string[],
  take: Take,
  pathOf: (key: string) => string,
): void {
  for (const key of keys) {
    const path = pathOf(key)
    const of = { was: take(was, key, 'was'), is: take(is, key, 'is'), rawWas: take(rawWas, key, 'was'), rawIs: take(rawIs, key, 'is') }
    compare({ ...of, path, steps: [...steps, key], restart, found })
  }
}

const isListOfEntries = (value: unknown): value is readonly Entry[] => Array.isArray(value) && value.every(isMapping)

/** Undefined if no field identifies the entries: then their positions do. */
function identityOf(was: readonly Entry[], is: readonly Entry[]): string | undefined {
  const tellsApart = (list: readonly Entry[], field: string): boolean => {
    const values = list.map((entry) => entry[field])
    return values.every((value) => typeof value === 'string') && new Set(values).size === values.length
  }
  return IDENTITIES.find((field) => tellsApart(was, field) && tellsApart(is, field))
}

function report(place: Place): void {
  const { was, is, rawWas, rawIs } = place
  const before = shown(rawWas, place)
  const after = shown(rawIs, place)
  if (was !== undefined && is !== undefined) return add(place, { kind: 'changed', before, after })
  if (was === undefined) return add(place, { kind: 'added', ...(isEntry(is) ? {} : { after }) })
  add(place, { kind: 'removed', ...(isEntry(was) ? {} : { before }) })
}

const isEntry = (value: unknown): boolean => isMapping(value) || (Array.isArray(value) && value.some(isMapping))

function shown(raw: unknown, { steps }: Place): string {
  if (raw === undefined) return 'default'
  // For a secret this says only that there is none.
  if (raw === null) return 'null'
  if (!Array.isArray(raw) || raw.some((each) => typeof each === 'object')) return shownValue(raw, steps)
  const values = raw.map((each: unknown) => shownValue(each, steps))
  // Of a list of secrets only their number is shown.
  return `[${values.join(', ')}]`
}

function add({ path, restart, found }: Place, difference: Omit<Difference, 'path' | 'needsRestart'>): void {
  const needsRestart = restart.some((start) => path === start || path.startsWith(`${start}.`))
  found.push({ path, ...difference, needsRestart })
}
