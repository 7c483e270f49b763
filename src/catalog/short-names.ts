import type { Model } from '../core/endpoint.ts'

/**
 * Finds listed models by names without an author, as clients of a single vendor send them: the part after the author (`gpt-5-mini`), or a provider's
 * id of the model (`claude-sonnet-4-5-20250929`). A name that several models share belongs to the model of the author that `makerOf` gives for it, or
 * else to none.
 */
export function createShortNames(models: readonly Model[], makerOf: (name: string) => string | undefined): (name: string) => Model | undefined {
  let index: ReadonlyMap<string, readonly Model[]> | undefined
  return (name) => {
    // Built on first use, because most gateways never see such a name.
    index ??= indexOf(models)
    const meant = index.get(name) ?? index.get(name.toLowerCase()) ?? []
    if (meant.length === 1) return meant[0]
    const maker = makerOf(name)
    const own = meant.filter(({ slug }) => maker !== undefined && slug.startsWith(`${maker}/`))
    return own.length === 1 ? own[0] : undefined
  }
}

function indexOf(models: readonly Model[]): ReadonlyMap<string, readonly Model[]> {
  const index = new Map<string, Model[]>()
  const add = (name: string, model: Model): void => {
    const known = index.get(name)
    if (known === undefined) index.set(name, [model])
    else if (!known.includes(model)) known.push(model)
  }
  for (const model of models) {
    add(model.slug.slice(model.slug.indexOf('/') + 1), model)
    for (const { upstreamModel } of model.endpoints) if (!upstreamModel.includes('/')) add(upstreamModel, model)
  }
  return index
}
