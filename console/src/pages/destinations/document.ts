import { ruleWords, type RuleWords } from './filter-rules.ts'
import { fieldsOf, resolved, type Components, type Field, type JsonSchema } from './schema-fields.ts'

/** What the gateway's OpenAPI document says about destinations. */

export interface OpenApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: OperationDoc } }
  readonly components: { readonly schemas: Components }
}
interface OperationDoc {
  readonly requestBody?: { readonly content?: { readonly [mediaType: string]: { readonly schema?: JsonSchema } } }
}

export interface DestinationType {
  /** Its name in the API. */
  readonly type: string
  /** Its name for people. */
  readonly label: string
  readonly fields: readonly Field[]
}

export interface DestinationWords {
  /** By label. */
  readonly types: readonly DestinationType[]
  readonly rules: RuleWords
}

/** Types with the fields of their settings, and the vocabulary of filter rules. */
export function destinationWords({ paths, components: { schemas } }: OpenApiDocument): DestinationWords {
  const body = paths['/api/v1/observability/destinations']?.['post']?.requestBody?.content?.['application/json']?.schema ?? {}
  const { properties = {} } = resolved(body, schemas)
  const names = (properties['type']?.enum ?? []) as readonly string[]
  const settings = (properties['config']?.anyOf ?? []).map((schema) => resolved(schema, schemas))
  const types = names.map((type) => {
    const own = settings.find((schema) => schema['x-type'] === type)
    return { type, label: own?.title ?? type, fields: (own === undefined ? undefined : fieldsOf(own, schemas)) ?? [] }
  })
  return {
    types: types.sort((one, other) => one.label.localeCompare(other.label, 'en')),
    rules: ruleWords(properties['filter_rules'] ?? {}, schemas),
  }
}
