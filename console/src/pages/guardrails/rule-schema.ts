/** The rules of a guardrail, read from the gateway's own API description: a new rule gets a field here without a change. */

export type RuleKind =
  /** A list of texts. */
  | 'names'
  /** Yes, no, or not set. */
  | 'flag'
  /** Yes or no. */
  | 'switch'
  | 'number'
  | 'choice'
  /** A list of objects with text members. */
  | 'rows'
  /** Anything else, as JSON. */
  | 'json'

export interface Column {
  readonly name: string
  readonly label: string
  readonly isNeeded: boolean
  /** Undefined: any text. */
  readonly choices: readonly string[] | undefined
}

export interface RuleField {
  readonly name: string
  readonly label: string
  readonly description: string | undefined
  readonly kind: RuleKind
  readonly choices: readonly string[]
  readonly columns: readonly Column[]
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
}

export interface ApiDescription {
  readonly components?: { readonly schemas?: { readonly [name: string]: Schema } }
}

/** Members of the request that are not rules. */
const FRAME: ReadonlySet<string> = new Set(['name', 'description', 'workspace_id'])

export function ruleFields(api: ApiDescription): readonly RuleField[] {
  const properties = api.components?.schemas?.['CreateGuardrailRequest']?.properties ?? {}
  return Object.entries(properties)
    .filter(([name]) => !FRAME.has(name))
    .map(([name, schema]) => fieldOf(name, schema))
}

function fieldOf(name: string, schema: Schema): RuleField {
  const { types, inner } = unwrapped(schema)
  const base = { name, label: labelOf(name), description: schema.description?.replaceAll('`', ''), choices: [], columns: [] }
  if (types.includes('boolean')) return { ...base, kind: types.includes('null') ? 'flag' : 'switch' }
  if (inner.enum !== undefined) return { ...base, kind: 'choice', choices: textsOf(inner.enum) }
  if (types.includes('number') || types.includes('integer')) return { ...base, kind: 'number' }
  if (types.includes('array') && inner.items?.type === 'string') return { ...base, kind: 'names' }
  const columns = types.includes('array') ? columnsOf(inner.items) : undefined
  return columns === undefined ? { ...base, kind: 'json' } : { ...base, kind: 'rows', columns }
}

/** The columns for a list of objects that have only text members. */
function columnsOf(items: Schema | undefined): readonly Column[] | undefined {
  const entries = Object.entries(items?.properties ?? {})
  const columns = entries.map(([name, schema]): Column | undefined => {
    const { types, inner } = unwrapped(schema)
    if (!types.includes('string')) return undefined
    return {
      name,
      label: labelOf(name),
      isNeeded: items?.required?.includes(name) ?? false,
      choices: inner.enum === undefined ? undefined : textsOf(inner.enum),
    }
  })
  return columns.length > 0 && columns.every((column) => column !== undefined) ? columns : undefined
}

/** A schema without the null it may allow, and the types it accepts. */
function unwrapped(schema: Schema): { readonly types: readonly string[]; readonly inner: Schema } {
  const branches = schema.anyOf ?? [schema]
  const inner = branches.find(({ type }) => type !== 'null') ?? schema
  return { types: branches.flatMap(({ type }) => type ?? []), inner }
}

const textsOf = (values: readonly unknown[]): readonly string[] => values.filter((value) => typeof value === 'string')

/** Abbreviations, written in capitals. */
const SPELLED: ReadonlySet<string> = new Set(['usd', 'zdr', 'byok'])

/** `limit_usd` as `Limit USD`. */
function labelOf(name: string): string {
  const words = name.split('_').map((word) => (SPELLED.has(word) ? word.toUpperCase() : word))
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
