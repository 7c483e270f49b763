import { z } from 'zod'
import { namedSchemas, type Access, type RegisteredRoute, type RouteDoc } from './route-doc.ts'

type Json = { readonly [key: string]: unknown }

export interface OpenApiInput {
  readonly title: string
  readonly version: string
  /** The documentation of the front doors, whose components include `Error`. */
  readonly doors: readonly { readonly paths: Json; readonly components: { readonly schemas: Json } }[]
  readonly routes: readonly RegisteredRoute[]
}

const WHO: { readonly [A in Exclude<Access, 'public'>]: string } = {
  any: 'With a key of any kind.',
  inference: 'With an inference key.',
  management: 'With a management key.',
}

/** OpenAPI 3.1 of every documented route. Takes some tens of milliseconds. */
export function buildOpenApi({ title, version, doors, routes }: OpenApiInput): Json {
  const described = routes.flatMap((route) => (route.doc === undefined ? [] : [{ ...route, doc: route.doc }]))
  const names = namesOf(described.map(({ doc }) => doc))
  const schemas = schemasOf(names)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const door of doors) for (const [path, item] of Object.entries(door.paths)) paths[path] = { ...paths[path], ...(item as Json) }
  for (const route of described) {
    const path = route.url.replaceAll(/\/:([A-Za-z_]+)/g, '/{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(path, route, names) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description:
        'A self-hosted gateway to language models: one API for all providers, with failover, limits and forwarding to observability tools.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set([...tagsOf(doors), ...described.map(({ doc }) => doc.tag)])].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries([...doors.map(({ components }) => components.schemas), schemas].flatMap((one) => Object.entries(one))),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An inference key (sk-...) or a management key.' } },
    },
  }
}

/** The tags of the front doors, in order. */
function tagsOf(doors: OpenApiInput['doors']): readonly string[] {
  const operations = doors.flatMap(({ paths }) => Object.values(paths).flatMap((item) => Object.values(item as Json)))
  return operations.flatMap((operation) => (operation as { readonly tags: readonly string[] }).tags)
}

type Names = ReadonlyMap<z.ZodType, string>

const pascal = (id: string): string => id.slice(0, 1).toUpperCase() + id.slice(1)
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** Named schemas by their name, and answers by the name of the first operation that returns them. */
function namesOf(docs: readonly RouteDoc[]): Names {
  const names = new Map<z.ZodType, string>([...namedSchemas].map(([name, schema]) => [schema, name]))
  for (const { id, answer } of docs) if (answer instanceof z.ZodType && !names.has(answer)) names.set(answer, `${pascal(id)}Answer`)
  return names
}

function schemasOf(names: Names): Json {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of names) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}`, io: 'input', unrepresentable: 'any' })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutIds(schema as Json)]))
}

/** OpenAPI declares the schema dialect once per document and has another place for components. */
const withoutIds = (schema: Json): Json => Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id'))

function operationOf(path: string, { doc, access }: RegisteredRoute & { readonly doc: RouteDoc }, names: Names): Json {
  const parameters = [...pathParameters(path, doc), ...fieldsOf(doc.query, 'query'), ...fieldsOf(doc.headers, 'header')]
  return {
    operationId: doc.id,
    summary: doc.summary,
    tags: [doc.tag],
    ...(access === 'public' ? {} : { description: WHO[access] }),
    security: access === 'public' ? [] : [{ bearer: [] }],
    'x-key': access === 'public' ? 'none' : access,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.body === undefined
      ? {}
      : {
          requestBody: {
            required: doc.bodyOptional !== true,
            content: { 'application/json': { schema: 'component' in doc.body ? ref(doc.body.component) : schemaOf(doc.body, names) } },
          },
        }),
    responses: responsesOf(path, doc, access, names),
  }
}

function schemaOf(schema: z.ZodType, names: Names): Json {
  const name = names.get(schema)
  return name === undefined ? withoutIds(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })) : ref(name)
}

function pathParameters(path: string, { params }: RouteDoc): readonly Json[] {
  const known = new Map(fieldsOf(params, 'path').map((field) => [field['name'], field]))
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => known.get(name) ?? { name, in: 'path', required: true, schema: { type: 'string' } })
}

/** The fields of an object as parameters, in their parsed form: a number stands as a number, although it is spelled as text. */
function fieldsOf(schema: z.ZodObject | undefined, place: 'path' | 'query' | 'header'): readonly Json[] {
  if (schema === undefined) return []
  const { properties = {} } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as {
    readonly properties?: { readonly [name: string]: Json }
  }
  return Object.entries(properties).map(([name, { description, ...field }]) => {
    const required = !(schema.shape[name] as z.ZodType).safeParse(undefined).success
    return { name, in: place, ...(required ? { required } : {}), ...(description === undefined ? {} : { description }), schema: field }
  })
}

const namesWorkspace = (schema: RouteDoc['body'] | RouteDoc['query']): boolean => schema instanceof z.ZodObject && 'workspace_id' in schema.shape

function responsesOf(path: string, doc: RouteDoc, access: Access, names: Names): Json {
  const errors: Record<string, NonNullable<RouteDoc['errors']>[number]> = {}
  // Any path may contain malformed escapes, which are refused before the route sees them.
  if (doc.body !== undefined || doc.query !== undefined || path.includes('{'))
    errors[400] = 'The request is not valid; `metadata.path` names the field.'
  if (doc.body !== undefined) {
    errors[408] = 'The body came too slowly.'
    errors[413] = 'The body is larger than the limit.'
  }
  if (access !== 'public') {
    errors[401] = 'The key is missing, unknown, revoked or expired.'
    errors[429] = 'Too many wrong keys came from this address, or too many requests of the workspace wait for their turn.'
    errors[503] = 'The key cannot be checked at the moment.'
  }
  if (access === 'management' || access === 'inference') errors[403] = 'A key of this kind, or of this workspace, may not do this.'
  if (path.includes('{')) errors[404] = 'It does not exist, or not for this key.'
  else if (namesWorkspace(doc.body) || namesWorkspace(doc.query)) errors[404] = 'The workspace does not exist, or not for this key.'
  errors[500] = 'A fault of the gateway; the message holds an id to search the logs for.'
  Object.assign(errors, doc.errors)
  const answer =
    'mediaType' in doc.answer
      ? { [doc.answer.mediaType]: { schema: { type: 'string' } } }
      : { 'application/json': { schema: schemaOf(doc.answer, names) } }
  return {
    [doc.status ?? 200]: { description: 'Success.', content: answer },
    ...Object.fromEntries(Object.entries(errors).map(([status, error]) => [status, errorAnswer(error, doc.error ?? 'Error', names)])),
  }
}

function errorAnswer(error: NonNullable<RouteDoc['errors']>[number], envelope: string, names: Names): Json {
  const [description, schema] = typeof error === 'string' ? [error, ref(envelope)] : [error.when, schemaOf(error.answer, names)]
  return { description, content: { 'application/json': { schema } } }
}
