import { z } from 'zod'
import { type Branch, fields, type Shape } from './schema-combinators.ts'

/** The gateway's own tools and their items are named `gateway:<name>`; drop-in clients of the hosted router use its prefix. */
const PREFIX = 'gateway:'
const ALIAS_PREFIX = 'openrouter:'

/** The gateway's own names where a caller chooses who runs a tool. */
export const OWN_ENGINES = [PREFIX.slice(0, -1), ALIAS_PREFIX.slice(0, -1)] as const

/** The gateway's own spelling of a type: `gateway:<name>` for either prefix; any other type is unchanged. */
export function canonicalType(type: string): string {
  return type.startsWith(ALIAS_PREFIX) ? PREFIX + type.slice(ALIAS_PREFIX.length) : type
}

/** Whether a model's name is one of the gateway's own, in either spelling: `gateway/auto`. */
export function isOwnModel(model: string): boolean {
  return OWN_ENGINES.some((author) => model.startsWith(`${author}/`))
}

/** Whether a type is one of the gateway's own, in either spelling. */
export function isOwnType(type: string): boolean {
  return type.startsWith(PREFIX) || type.startsWith(ALIAS_PREFIX)
}

/** A branch for `gateway:<name>` that accepts both spellings. */
export function gatewayTagged(name: string, shape: Shape): Branch {
  return [PREFIX + name, fields({ type: z.literal([PREFIX + name, ALIAS_PREFIX + name]), ...shape })]
}
