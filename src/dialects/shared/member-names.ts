import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'

/** Names of members that Claude takes at the top of a tool's schema, whoever serves it; below, all are taken. For one other, all tools are refused. */
const TAKEN = /^[a-zA-Z0-9_.-]{1,64}$/

/** Said where a tool cannot be strict for its members. */
export const NOT_STRICT = 'tools: strict, for the names of members'

/** The description of a tool with what has to be told beside. */
export function noted(description: string | undefined, note: string | undefined): string | undefined {
  return note === undefined || description === undefined || description === '' ? (note ?? description) : `${description}\n\n${note}`
}

export interface NamedSchema {
  readonly schema: JsonObject
  /** What the model is told of members whose names are not taken. */
  readonly note?: string
}

/**
 * A tool's schema without members it may not name, as OData (`$filter`) and query strings (`filter[id]`) have them. The model reads of them
 * in the tool's description instead: no schema holds it to the members that are declared.
 */
export function takenMembers(schema: JsonObject): NamedSchema {
  const { properties } = schema
  if (!isObject(properties) || Object.keys(properties).every((name) => TAKEN.test(name))) return { schema }
  const entries = Object.entries(properties)
  const others = entries.filter(([name]) => !TAKEN.test(name))
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const must = required.filter((name) => others.some(([other]) => other === name))
  const { required: _required, additionalProperties, ...rest } = schema
  const left = required.filter((name) => !must.includes(name))
  return {
    schema: {
      ...rest,
      properties: Object.fromEntries(entries.filter(([name]) => TAKEN.test(name))),
      ...(left.length === 0 ? {} : { required: left }),
      ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    },
    note: `It also takes members of these names, exactly as they are written, under this JSON schema:\n${JSON.stringify({
      properties: Object.fromEntries(others),
      ...(must.length === 0 ? {} : { required: must }),
    })}`,
  }
}
