import type { SourcePart } from '../shared/source-part.ts'

/** The fallback groups of each name. */
export interface Fallbacks {
  readonly of: (name: string) => readonly string[]
  /** Every name in the fallbacks, with its place in the file. */
  readonly named: readonly (readonly [name: string, part: SourcePart])[]
}

const ONE_AFTER_ANOTHER =
  'are endpoints of weight 0, asked while those of the model itself do not serve: of several the cheaper one first, not in this order'
const FOR_ALL = 'are endpoints of weight 0 as well: here they are asked after any failure'

/** Reads `fallbacks` and its variants, in both sections that may contain them. `meant`: what aliases stand for. */
export function readFallbacks(sections: readonly SourcePart[], meant: ReadonlyMap<string, string>): Fallbacks {
  const named = new Map<string, string[]>()
  // Fallbacks for one kind of failure. The general ones still apply to all other kinds.
  const special = new Map<string, string[]>()
  const general: string[] = []
  const all: [string, SourcePart][] = []
  const add = (to: Map<string, string[]>, name: string, others: readonly string[]): void => {
    const known = to.get(name) ?? []
    to.set(name, [...known, ...others.filter((other) => !known.includes(other))])
  }
  for (const section of sections) {
    for (const { key, others, part } of pairsOf(section.at('fallbacks'), meant)) {
      for (const name of key === '*' ? others : [key, ...others]) all.push([name, part])
      if (key === '*') general.push(...others)
      else add(named, key, others)
      if (others.length > 1) part.note('do', ONE_AFTER_ANOTHER)
    }
    for (const alias of section.at('default_fallbacks').texts()) {
      const name = meant.get(alias) ?? alias
      general.push(name)
      all.push([name, section.at('default_fallbacks')])
    }
    for (const kind of ['context_window_fallbacks', 'content_policy_fallbacks']) {
      for (const { key, others, part } of pairsOf(section.at(kind), meant)) {
        for (const name of [key, ...others]) all.push([name, part])
        add(special, key, others)
        part.note('do', FOR_ALL)
      }
    }
  }
  const usual = (name: string): readonly string[] => named.get(name) ?? general.filter((other) => other !== name)
  return { of: (name) => [...new Set([...(special.get(name) ?? []), ...usual(name)])], named: all }
}

interface Pair {
  readonly key: string
  readonly others: readonly string[]
  readonly part: SourcePart
}

/** A list of mappings with one name each, or a single mapping. Fallbacks that are not names (requests of their own) are left for a note. */
function pairsOf(part: SourcePart, meant: ReadonlyMap<string, string>): readonly Pair[] {
  const mappings = part.isList ? part.items() : [part]
  return mappings.flatMap((mapping) =>
    mapping.members().map((member) => {
      const others = member.items().flatMap((item) => {
        const name = (item.isMapping ? item.at('model') : item).text()
        return name === undefined ? [] : [meant.get(name) ?? name]
      })
      const model = meant.get(member.key)
      if (model !== undefined) member.note('do', `is another name of ${JSON.stringify(model)}: all who ask for that have its fallbacks`)
      return { key: model ?? member.key, others, part: member }
    }),
  )
}
