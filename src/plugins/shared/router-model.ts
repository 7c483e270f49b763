/** A name that stands for a choice instead of a model. */
export interface RouterName {
  /** `auto` of `gateway/auto`. */
  readonly name: string
  /** As the caller spells it. */
  readonly author: string
  /** Variants behind it, colon included: they go on to the models that are chosen. */
  readonly suffix: string
}

/** The gateway's own author, and how drop-in clients of the hosted router spell it. */
const ROUTER = /^(gateway|openrouter)\/([a-z0-9-]+)((?::[a-z0-9-]+)*)$/

export function routerName(model: string | undefined): RouterName | undefined {
  const match = model === undefined ? null : ROUTER.exec(model)
  return match === null ? undefined : { author: match[1]!, name: match[2]!, suffix: match[3]! }
}
