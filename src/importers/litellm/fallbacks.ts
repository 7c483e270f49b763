import type { Given } from '../shared/given.ts'

/** Who is asked instead of whom, by name. */
export interface Fallbacks {
  readonly of: (name: string) => readonly string[]
  /** Every name among them, with where it is said. */
  readonly named: readonly (readonly [name: string, given: Given])[]
}

const ONE_AFTER_ANOTHER =
  'are endpoints of weight 0, asked while those of the model itself do not serve: of several the cheaper one first, not in this order'
const FOR_ALL = 'are endpoints of weight 0 as well: here they are asked after any failure'

/** `fallbacks` and their kin, in both sections that may hold them. */
export function readFallbacks(sections: readonly Given[]): Fallbacks {
  const named = new Map<string, string[]>()
  // For one kind of failure: those for all the others stay as they are.
  const special = new Map<string, string[]>()
  const general: string[] = []
  const all: [string, Given][] = []
  const add = (to: Map<string, string[]>, name: string, others: readonly string[]): void => {
    const known = to.get(name) ?? []
    to.set(name, [...known, ...others.filter((other) => !known.includes(other))])
  }
  for (const section of sections) {
    for (const { key, others, given } of pairsOf(section.at('fallbacks'))) {
      for (const name of key === '*' ? others : [key, ...others]) all.push([name, given])
      if (key === '*') general.push(...others)
      else add(named, key, others)
      if (others.length > 1) given.note('do', ONE_AFTER_ANOTHER)
    }
    for (const name of section.at('default_fallbacks').texts()) {
      general.push(name)
      all.push([name, section.at('default_fallbacks')])
    }
    for (const kind of ['context_window_fallbacks', 'content_policy_fallbacks']) {
      for (const { key, others, given } of pairsOf(section.at(kind))) {
        for (const name of [key, ...others]) all.push([name, given])
        add(special, key, others)
        given.note('do', FOR_ALL)
      }
    }
  }
  const usual = (name: string): readonly string[] => named.get(name) ?? general.filter((other) => other !== name)
  return { of: (name) => [...new Set([...(special.get(name) ?? []), ...usual(name)])], named: all }
}

interface Pair {
  readonly key: string
  readonly others: readonly string[]
  readonly given: Given
}

/** A list of mappings with a name each, or one mapping. Others than names (requests of their own) are left to be spoken of. */
function pairsOf(given: Given): readonly Pair[] {
  const mappings = given.isList ? given.items() : [given]
  return mappings.flatMap((mapping) =>
    mapping.members().map((member) => {
      const others = member.items().flatMap((item) => {
        if (!item.isMapping) return item.text() ?? []
        const name = item.at('model').text()
        return name ?? []
      })
      return { key: member.key, others, given: member }
    }),
  )
}
