import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'

/**
 * Names of members that Claude accepts at the top of a tool's schema, whoever serves it; below the top all are accepted. A single other name has all
 * tools refused.
 */
const TAKEN = /^[a-zA-Z0-9_.-]{1,64}$/

/** Noted if a tool cannot be strict because of its members. */
export const NOT_STRICT = 'tools: strict, for the names of members'

/** A tool's description, with an additional note. */
export function noted(description: string | undefined, note: string | undefined): string | undefined {
  return note === undefined || description === undefined || description === '' ? (note ?? description) : `${description}\n\n${note}`
}

export interface NamedSchema {
  readonly schema: JsonObject
  /** What the model is told about members whose names are not accepted. */
  readonly note?: string
}

/**
 * A tool's schema without members whose names are not accepted, such as those of OData (`$filter`) and query strings (`filter[id]`). The description
 * tells the model about them instead, because no schema restricts it to declared members.
 */
export function takenMembers(schema: JsonObject): NamedSchema {
  const { properties } = schema
  if (!isObject(properties) || Object.keys(properties).every((name) => TAKEN.test(name))) return { schema }
  const entries = Object.entries(properties)
  const others = entries.filter(([name]) => !TAKEN.test(name))
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const apart = new Set<unknown>(others.map(([name]) => name))
  const must = required.filter((name) => apart.has(name))
  const { required: _required, additionalProperties, ...rest } = schema
  const left = required.filter((name) => !apart.has(name))
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
