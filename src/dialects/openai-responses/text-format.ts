import type { Parameter } from '../../core/endpoint.ts'
import type { JsonObject } from '../../core/item.ts'
import type { TextFormat } from '../../core/request.ts'
import { formatName, formatOf, type JsonSchemaFormat } from '../shared/format-plan.ts'
import { hasOptionalMembers, STRICT_WITH_OPTIONAL } from '../shared/optional-members.ts'
import { strictChoices } from '../shared/strict-choices.ts'
import type { ResponsesOptions } from './options.ts'

export const parameterOf = ({ type }: TextFormat): Parameter => (type === 'json_schema' ? 'structured_outputs' : 'response_format')

/** A model that keeps to schemas writes JSON, too. */
export const takesFormat = (format: TextFormat, supports: ReadonlySet<Parameter>): boolean =>
  format.type === 'text' || supports.has(parameterOf(format)) || supports.has('structured_outputs')

/** The format as the endpoint accepts it. What that changes and a caller would notice is listed in `dropped`. */
export function writtenFormat(format: TextFormat, options: ResponsesOptions, dropped: Set<string>): JsonObject {
  const whole = formatOf({ text: { format } }) ?? format
  const named = whole.type === 'json_schema' ? namedSchema(whole, options, dropped) : whole
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null))
}

function namedSchema(format: JsonSchemaFormat, options: ResponsesOptions, dropped: Set<string>): JsonSchemaFormat {
  const mayLeaveOut = options.optional_members === 'refused' && format.strict === true && hasOptionalMembers(format.schema)
  if (mayLeaveOut) dropped.add(`text.format: ${STRICT_WITH_OPTIONAL}`)
  const strict = mayLeaveOut ? false : format.strict
  return {
    ...format,
    name: formatName(format),
    ...(strict === true ? { schema: strictChoices(format.schema) } : {}),
    ...(mayLeaveOut ? { strict } : {}),
  }
}
