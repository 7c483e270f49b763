import { z } from 'zod'
import { type Branch, byType, fields, kindOf, maybe, pickOne, quote, type Schema } from '../responses/schema-combinators.ts'
import { GATEWAY_TOOLS_OF_ANY_FORMAT, OTHER_GATEWAY_TOOLS } from '../responses/schema-gateway-tools.ts'
import { canonicalType } from '../../core/own-names.ts'
import { anyObject, flag, text } from '../responses/schema-shared.ts'
import { NATIVE_TOOLS, SAID_OF_CALLS } from './native-tools.ts'

const callerTool = fields({
  type: maybe(z.literal('custom')),
  name: z.string().min(1),
  description: text,
  input_schema: anyObject,
  strict: flag,
  ...SAID_OF_CALLS,
})

const TOOLS: readonly Branch[] = [['custom', callerTool], ...NATIVE_TOOLS, ...GATEWAY_TOOLS_OF_ANY_FORMAT]
const known = byType(TOOLS, {
  noun: 'tool',
  ...OTHER_GATEWAY_TOOLS,
  alias: canonicalType,
  hint: (type) => `is ${quote(type)}, which this gateway cannot offer to any model; known are ${TOOLS.map(([name]) => name).join(', ')}`,
})

/** A tool of the Messages format. The caller's own tools need no type. */
export const tool: Schema = pickOne([callerTool, known], (value) =>
  kindOf(value) === 'object' && (value as { readonly type?: unknown }).type == null ? callerTool : known,
)
