import { OWN_SPELLINGS } from '../../core/own-names.ts'

/** A name that stands for a router instead of a model. */
export interface RouterName {
  /** `auto` of `gateway/auto`. */
  readonly name: string
  /** In the caller's spelling. */
  readonly author: string
  /** Variants after the name, colon included: they apply to the chosen models. */
  readonly suffix: string
}

const ROUTER = new RegExp(`^(${OWN_SPELLINGS.join('|')})/([a-z0-9-]+)((?::[a-z0-9-]+)*)$`)

export function routerName(model: string | undefined): RouterName | undefined {
  const match = model === undefined ? null : ROUTER.exec(model)
  return match === null ? undefined : { author: match[1]!, name: match[2]!, suffix: match[3]! }
}
