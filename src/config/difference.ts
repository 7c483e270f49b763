import { isDeepStrictEqual } from 'node:util'
import { shownValue } from './explain.ts'
import type { ConfigDocument } from './load.ts'
import { isMapping } from './substitute.ts'
import { toConfig } from './to-config.ts'
import { restartNeeded } from './watch.ts'

/** What one configuration says otherwise than another, at a path of the file. */
export interface Difference {
  /** Entries of lists by what they are called: `models[acme/small].endpoints[openai].pricing.input`. */
  readonly path: string
  /** `order`: of the entries both have. */
  readonly kind: 'added' | 'removed' | 'changed' | 'order'
  /** As people may see it; absent for whole entries. Secrets are hidden, also where they are what has changed. */
  readonly before?: string
  readonly after?: string
  /** It takes effect only with a new process. */
  readonly needsRestart: boolean
}

/** By what the entries of a list are told apart: the first that each of them has, and has alone. */
const IDENTITIES = ['slug', 'name', 'id', 'provider'] as const

const FOR_EDITORS = '$schema'

/** Everything that differs in effect: what is written out now and was the default before is no difference. */
export function differences(before: ConfigDocument, after: ConfigDocument): readonly Difference[] {
  const found: Difference[] = []
  const restart = restartNeeded(toConfig(before.data, {}, undefined), toConfig(after.data, {}, undefined))
  compare({ was: before.data, is: after.data, rawWas: before.raw, rawIs: after.raw, path: '', steps: [], restart, found })
  return found
}

/** The same place in both, as it is understood and as it is written. */
interface Place {
  readonly was: unknown
  readonly is: unknown
  readonly rawWas: unknown
  readonly rawIs: unknown
  readonly path: string
  readonly steps: readonly string[]
  /** What takes effect only with a new process, by its path. */
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
  if (!isListOfEntries(was) || !isListOfEntries(is)) return tell(place)
  const identity = identityOf(was, is)
  const namesOf = (list: readonly Entry[]): readonly string[] =>
    list.map((entry, position) => String(identity === undefined ? position : entry[identity]))
  const [namesWas, namesIs] = [namesOf(was), namesOf(is)]
  // What is written may be called by a variable: an entry is found where it stands, not by what it is called there.
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

/** Absent where none tells the entries apart: they are known by their positions. */
function identityOf(was: readonly Entry[], is: readonly Entry[]): string | undefined {
  const tellsApart = (list: readonly Entry[], field: string): boolean => {
    const values = list.map((entry) => entry[field])
    return values.every((value) => typeof value === 'string') && new Set(values).size === values.length
  }
  return IDENTITIES.find((field) => tellsApart(was, field) && tellsApart(is, field))
}

function tell(place: Place): void {
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
  // Of a secret: that there is none.
  if (raw === null) return 'null'
  if (!Array.isArray(raw) || raw.some((each) => typeof each === 'object')) return shownValue(raw, steps)
  const values = raw.map((each: unknown) => shownValue(each, steps))
  // How many secrets there are is as much as is said of them.
  return `[${values.join(', ')}]`
}

function add({ path, restart, found }: Place, difference: Omit<Difference, 'path' | 'needsRestart'>): void {
  const needsRestart = restart.some((start) => path === start || path.startsWith(`${start}.`))
  found.push({ path, ...difference, needsRestart })
}
