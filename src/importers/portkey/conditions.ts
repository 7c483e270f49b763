import type { SourcePart } from '../shared/source-part.ts'

const BY_HAND = 'nothing chooses by conditions: callers name the model, which is called like the target'

/**
 * Names of models by which callers reach a target: conditions on the model alone are other names of it. All others are spoken of, and so are
 * those for targets that have no name or say no model.
 */
export function namesAsked(conditions: SourcePart, isModel: (target: string) => boolean): ReadonlyMap<string, readonly string[]> {
  const namesByTarget = new Map<string, string[]>()
  const taken = new Set<string>()
  for (const condition of conditions.items()) {
    const target = condition.at('then').value
    const names = typeof target === 'string' && isModel(target) ? namesIn(condition.at('query')) : undefined
    if (names === undefined) {
      condition.note('do', BY_HAND)
      continue
    }
    condition.at('then').take()
    condition.at('query').take()
    // The first that fits is the one that counts.
    const fresh = names.filter((name) => !taken.has(name))
    for (const name of fresh) taken.add(name)
    namesByTarget.set(String(target), [...(namesByTarget.get(String(target)) ?? []), ...fresh])
  }
  if (!conditions.isList && conditions.exists) conditions.note('do', BY_HAND)
  return namesByTarget
}

/** Undefined: it asks for more than that the model is one of some. */
function namesIn({ value }: SourcePart): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'params.model') return undefined
  const wanted = (value as { readonly [field: string]: unknown })['params.model']
  const {
    $eq: one,
    $in: several,
    ...others
  } = (typeof wanted === 'object' && wanted !== null ? wanted : { $eq: wanted }) as {
    readonly [operator: string]: unknown
  }
  const names = one !== undefined && several === undefined ? [one] : one === undefined ? several : undefined
  if (Object.keys(others).length > 0 || !Array.isArray(names) || names.length === 0) return undefined
  return names.every((name) => typeof name === 'string' && name !== '') ? (names as string[]) : undefined
}
