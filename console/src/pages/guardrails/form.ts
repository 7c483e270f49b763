import { afterSave } from '../../lib/changes.ts'
import { numberOf, type NumberField } from '../../lib/fields.ts'
import type { RuleField } from './rule-schema.ts'

/** The form's values by the names of the API; lists of rows as rows of texts, JSON as typed. */
export interface GuardrailForm {
  readonly name: string
  readonly description: string
  readonly rules: { readonly [name: string]: unknown }
}

export type Row = { readonly [column: string]: string }

type Stored = { readonly [name: string]: unknown }

/** The form for a stored guardrail, or an empty one. */
export function formOf(fields: readonly RuleField[], stored: Stored = {}): GuardrailForm {
  return {
    name: textOf(stored['name']),
    description: textOf(stored['description']),
    rules: Object.fromEntries(fields.map((field) => [field.name, shown(field, stored[field.name])])),
  }
}

function shown(field: RuleField, value: unknown): unknown {
  switch (field.kind) {
    case 'names':
    case 'rows':
      return Array.isArray(value) ? value.map((entry: unknown) => (field.kind === 'rows' ? rowOf(entry) : entry)) : []
    case 'number':
      return typeof value === 'number' ? value : ''
    case 'switch':
      return value === true
    case 'json':
      return value === null || value === undefined ? '' : JSON.stringify(value, null, 2)
    case 'flag':
    case 'choice':
      return value ?? null
  }
}

const rowOf = (entry: unknown): Row =>
  Object.fromEntries(Object.entries((entry ?? {}) as Stored).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))

/** The value to send for one field: null if it demands nothing. Throws SyntaxError for invalid JSON. */
function sent(field: RuleField, value: unknown): unknown {
  switch (field.kind) {
    case 'names':
      return Array.isArray(value) && value.length > 0 ? value : null
    case 'rows': {
      const rows = (value as readonly Row[]).map((row) => filled(field, row))
      return rows.length > 0 ? rows : null
    }
    case 'number':
      return numberOf(value as NumberField)
    case 'json':
      return textOf(value).trim() === '' ? null : (JSON.parse(textOf(value)) as unknown)
    case 'flag':
    case 'switch':
    case 'choice':
      return value
  }
}

/** A row in the order of its columns, without empty cells. */
const filled = ({ columns }: RuleField, row: Row): Row =>
  Object.fromEntries(columns.flatMap(({ name }) => (row[name] === undefined || row[name] === '' ? [] : [[name, row[name]]])))

/** The body for a new guardrail: the rules that demand something. */
export function createBody(fields: readonly RuleField[], form: GuardrailForm): Stored & { readonly name: string } {
  const rules = fields
    .map((field) => [field.name, sent(field, form.rules[field.name])] as const)
    .filter(([, value]) => value !== null && value !== false)
  return { name: form.name.trim(), ...(form.description.trim() === '' ? {} : { description: form.description }), ...Object.fromEntries(rules) }
}

/** Only what differs; an emptied rule is null. */
export function changes(fields: readonly RuleField[], before: GuardrailForm, after: GuardrailForm): Stored {
  const changed: { [name: string]: unknown } = {}
  if (after.name !== before.name) changed['name'] = after.name.trim()
  if (after.description !== before.description) changed['description'] = after.description.trim() === '' ? null : after.description
  for (const field of fields) {
    const [was, is] = [sent(field, before.rules[field.name]), sent(field, after.rules[field.name])]
    if (JSON.stringify(was) !== JSON.stringify(is)) changed[field.name] = is
  }
  return changed
}

/** The form after `submitted` was saved: what was typed since, rule by rule, on top of what is stored now. */
export const savedForm = (submitted: GuardrailForm, now: GuardrailForm, stored: GuardrailForm): GuardrailForm => ({
  ...afterSave(submitted, now, stored),
  rules: afterSave(submitted.rules, now.rules, stored.rules),
})

export type Problems = { readonly [field: string]: string }

/** What cannot be sent, by field: a missing name, or invalid JSON. */
export function problemsOf(fields: readonly RuleField[], form: GuardrailForm): Problems {
  const problems: { [field: string]: string } = {}
  if (form.name.trim() === '') problems['name'] = 'A guardrail needs a name.'
  for (const field of fields) {
    const missing = missingOf(field, form.rules[field.name])
    if (missing !== undefined) problems[field.name] = missing
    try {
      sent(field, form.rules[field.name])
    } catch (error) {
      problems[field.name] = `This is not JSON: ${(error as Error).message}`
    }
  }
  return problems
}

/** Names the row that lacks a required value. */
function missingOf({ kind, columns }: RuleField, value: unknown): string | undefined {
  if (kind !== 'rows') return undefined
  for (const [index, row] of (value as readonly Row[]).entries()) {
    const column = columns.find(({ name, isNeeded }) => isNeeded && (row[name] ?? '') === '')
    if (column !== undefined) return `${column.label} of number ${index + 1} is missing.`
  }
  return undefined
}

/** The field that an error belongs to: `content_filters.2.pattern` is about the third row of that field. */
export const fieldOfPath = (path: string | undefined): string => path?.split('.')[0] ?? ''

/** A guardrail's rules in one line. */
export function summaryOf(fields: readonly RuleField[], stored: Stored): string {
  const summaries = fields.flatMap((field) => {
    const value = stored[field.name]
    if (value === null || value === undefined || value === false) return field.kind === 'flag' && value === false ? [`${field.label}: no`] : []
    if (Array.isArray(value)) return value.length === 0 ? [] : [`${field.label} (${value.length})`]
    return [value === true ? field.label : `${field.label}: ${typeof value === 'string' || typeof value === 'number' ? value : 'set'}`]
  })
  return summaries.length === 0 ? 'demands nothing' : summaries.join(', ')
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
