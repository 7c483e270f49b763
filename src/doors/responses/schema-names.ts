import { z } from 'zod'
import { ownTypes } from '../../core/own-names.ts'
import { type Branch, fields, type Shape } from './schema-combinators.ts'

/** A branch for `gateway:<name>` that accepts both spellings. */
export function gatewayTagged(name: string, shape: Shape): Branch {
  const types = ownTypes(name)
  return [types[0], fields({ type: z.literal([...types]), ...shape })]
}
