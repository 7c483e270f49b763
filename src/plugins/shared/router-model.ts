/** A name that stands for a router instead of a model. */
export interface RouterName {
  /** `auto` of `gateway/auto`. */
  readonly name: string
  /** In the caller's spelling. */
  readonly author: string
  /** Variants after the name, colon included: they apply to the chosen models. */
  readonly suffix: string
}

/** The gateway's own author, and the spelling in clients of the hosted router that are used unchanged. */
const ROUTER = /^(gateway|openrouter)\/([a-z0-9-]+)((?::[a-z0-9-]+)*)$/

export function routerName(model: string | undefined): RouterName | undefined {
  const match = model === undefined ? null : ROUTER.exec(model)
  return match === null ? undefined : { author: match[1]!, name: match[2]!, suffix: match[3]! }
}
