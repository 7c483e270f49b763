import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DESTINATIONS } from '../../src/destinations/index.ts'
import { compareSchemas, type ApiDocument, type Direction, type Operation } from '../../src/testing/compare-schemas.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** `/openapi.json` is complete, valid and correct, and agrees with the contract where both cover a route. */

let upstream: FakeUpstream
let gateway: TestGateway
let document: ApiDocument
beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url]))
  document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as ApiDocument
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const NAME_A_WORKSPACE = ['keys', 'byok', 'presets', 'guardrails', 'observability/destinations'].flatMap((path) => [`post ${path}`, `get ${path}`])
/** Routes that a gateway which still runs after `secrets rotate` refuses, because it would encrypt with the old key. */
const STORE_SECRETS = [
  'patch byok/{id}',
  'patch observability/destinations/{id}',
  'patch presets/{slug}',
  'post byok',
  'post observability/destinations',
  'post presets',
  'post presets/{slug}/responses',
]

interface DescribedField {
  readonly format?: string
  readonly writeOnly?: boolean
  readonly additionalProperties?: DescribedField
}
interface DescribedSettings {
  readonly title?: string
  readonly 'x-type'?: string
  readonly properties: { readonly [name: string]: DescribedField }
}

/** Errors of formats with their own envelopes. */
const ENVELOPES = [
  ['/api/v1/messages', 'MessagesError'],
  ['/api/v1beta/', 'GenerateContentError'],
  ['/api/v1/models/{model}:', 'GenerateContentError'],
] as const

const operations = (): readonly (readonly [method: string, path: string, operation: Operation])[] =>
  Object.entries(document.paths).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => [method, path, operation] as const))

describe('the document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('describes every route there is, and no other', async () => {
    const registered = (await gateway.app.routes()).map((route) => route.replaceAll(/\/:([a-z_]+)/g, '/{$1}'))
    expect(
      operations()
        .map(([method, path]) => `${method.toUpperCase()} ${path}`)
        .toSorted(),
    ).toEqual(registered.toSorted())
  })

  it('names operations and schemas once, and refers only to what it holds', () => {
    const ids = operations().map(([, , { operationId }]) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!)
    expect(refs.filter((name) => !(name in document.components.schemas))).toEqual([])
    expect(JSON.stringify(document)).not.toMatch(/__shared|"\$defs"|"\$id"/)
  })

  it('says who may call what, and the error envelope of each refusal', async () => {
    for (const [method, path, operation] of operations()) {
      const { security, 'x-key': kind } = operation as unknown as { readonly security: readonly object[]; readonly 'x-key': string }
      const response = await fetch(`${gateway.url}${path.replaceAll(/\{[a-z_]+\}/g, 'x')}`, { method: method.toUpperCase() })
      const title = `${method} ${path}`
      expect([title, response.status === 401]).toEqual([title, security.length > 0])
      expect([title, kind === 'none']).toEqual([title, security.length === 0])
      if (response.status === 401)
        expect(operation.responses['401']?.content?.['application/json']?.schema).toEqual({
          $ref: `#/components/schemas/${ENVELOPES.find(([folder]) => path.startsWith(folder))?.[1] ?? 'Error'}`,
        })
    }
  })

  it('lists every refusal there is: of guessed keys, slow bodies, unreadable URLs, unknown workspaces and rotated secrets', () => {
    const nowhere: string[] = []
    for (const [method, path, operation] of operations()) {
      const { 'x-key': kind, requestBody } = operation as unknown as { readonly 'x-key': string; readonly requestBody?: object }
      const expected = [...(kind === 'none' ? [] : ['429']), ...(requestBody === undefined ? [] : ['408']), ...(path.includes('{') ? ['400'] : [])]
      for (const status of expected) if (!(status in operation.responses)) nowhere.push(`${status} of ${method} ${path}`)
    }
    expect(nowhere).toEqual([])
    const those = (status: string): readonly string[] =>
      operations().flatMap(([method, path, { responses }]) => (status in responses ? [`${method} ${path.replace('/api/v1/', '')}`] : []))
    expect(those('404').filter((one) => !one.includes('{'))).toEqual(expect.arrayContaining(NAME_A_WORKSPACE))
    expect(those('412').toSorted()).toEqual(STORE_SECRETS)
  })

  it('describes for each type of destination its name, its settings and which of them can never be read again', () => {
    const schemas = document.components.schemas as unknown as { readonly [name: string]: DescribedSettings }
    for (const { type, name, secrets } of DESTINATIONS.values()) {
      const own = Object.values(schemas).filter((schema) => schema['x-type'] === type)
      expect(own.map(({ title }) => title)).toEqual([name])
      const concealed = Object.entries(own[0]!.properties).flatMap(([key, field]) => [
        ...(field.writeOnly === true && field.format === 'password' ? [key] : []),
        ...(field.additionalProperties?.writeOnly === true && field.additionalProperties.format === 'password' ? [`${key}.*`] : []),
      ])
      expect([type, concealed.sort()]).toEqual([type, [...secrets].sort()])
    }
  })

  it('is made once: the second time it comes at once', async () => {
    const first = await (await fetch(`${gateway.url}/openapi.json`)).text()
    const response = await fetch(`${gateway.url}/openapi.json`)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.text()).toBe(first)
  })
})

describe('answers', () => {
  /** Fields missing from the document are errors here, because clients generated from it would lose them. */
  const closed = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(closed)
    if (typeof schema !== 'object' || schema === null) return schema
    const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)])) as { properties?: unknown; allOf?: unknown }
    return copy.properties === undefined ? copy : { unevaluatedProperties: false, ...copy }
  }

  it('of every management route are as described, without additional fields', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'ours', components: closed(document.components) })
    const seen = new Set<string>()
    const call = async (method: string, path: string, template: string, body?: object): Promise<{ readonly [field: string]: never }> => {
      const response = await gateway.api(method, path, body)
      const answer: unknown = await response.json()
      const described = document.paths[template]?.[method.toLowerCase()]?.responses[String(response.status)]
      if (described === undefined) throw new Error(`${method} ${path} answered ${response.status}, which is not described: ${JSON.stringify(answer)}`)
      const validate = ajv.compile(JSON.parse(JSON.stringify(described.content!['application/json']!.schema).replaceAll('"#/', '"ours#/')) as object)
      if (!validate(answer)) throw new Error(`${method} ${path}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(answer)}`)
      if (response.status < 300) seen.add(`${method.toLowerCase()} ${template}`)
      return answer as { readonly [field: string]: never }
    }
    const dataOf = (answer: { readonly [field: string]: never }): { readonly [field: string]: string } => answer['data']!
    await exercise(call, dataOf)
    const expected = operations()
      .filter(([, path, operation]) => path.startsWith('/api/v1') && (operation as unknown as { 'x-key': string })['x-key'] !== 'inference')
      .map(([method, path]) => `${method} ${path}`)
    expect(expected.filter((one) => !seen.has(one))).toEqual([])
  })

  type Call = (method: string, path: string, template: string, body?: object) => Promise<{ readonly [field: string]: never }>

  async function exercisePolicies(
    call: Call,
    dataOf: (answer: { readonly [field: string]: never }) => { readonly [field: string]: string },
  ): Promise<void> {
    const api = '/api/v1'
    await call('POST', `${api}/presets`, `${api}/presets`, { slug: 'one', system_prompt: 'Be brief.', config: { temperature: 0.5 } })
    await call('POST', `${api}/presets`, `${api}/presets`, { slug: 'one' })
    await call('POST', `${api}/presets/one/responses`, `${api}/presets/{slug}/responses`, { model: 'acme/small', input: 'hi' })
    await call('GET', `${api}/presets`, `${api}/presets`)
    const aPreset = (method: string, rest = '', template = '', body?: object) =>
      call(method, `${api}/presets/one${rest}`, `${api}/presets/{slug}${template}`, body)
    await aPreset('GET')
    await aPreset('PATCH', '', '', { description: 'changed', status: 'disabled' })
    await aPreset('GET', '/versions', '/versions')
    await aPreset('GET', '/versions/1', '/versions/{version}')
    await aPreset('DELETE')
    await aPreset('GET')

    const { hash } = dataOf(await call('POST', `${api}/keys`, `${api}/keys`, { name: 'guarded' }))
    const filters = {
      content_filter_builtins: [{ slug: 'email', action: 'redact' }],
      content_filters: [{ pattern: 'a+', action: 'flag', label: null }],
    }
    const { id } = dataOf(await call('POST', `${api}/guardrails`, `${api}/guardrails`, { name: 'g', limit_usd: 1, ...filters }))
    await call('GET', `${api}/guardrails`, `${api}/guardrails`)
    const aGuardrail = (method: string, rest = '', body?: object) =>
      call(method, `${api}/guardrails/${id}${rest}`, `${api}/guardrails/{id}${rest}`, body)
    await aGuardrail('GET')
    await aGuardrail('PATCH', '', { allowed_models: ['acme/*'] })
    await aGuardrail('PATCH', '', { allowed_models: [] })
    await aGuardrail('POST', '/assignments/keys', { key_hashes: [hash] })
    await aGuardrail('GET', '/assignments/keys')
    await call('GET', `${api}/guardrails/assignments/keys`, `${api}/guardrails/assignments/keys`)
    await aGuardrail('POST', '/assignments/keys/remove', { key_hashes: [hash] })
    await aGuardrail('DELETE')
    await aGuardrail('GET')
  }

  /** Calls every management route once, and causes some refusals. */
  async function exercise(call: Call, dataOf: (answer: { readonly [field: string]: never }) => { readonly [field: string]: string }): Promise<void> {
    const api = '/api/v1'
    const simple = (method: string, path: string, body?: object) => call(method, path, path, body)
    for (const path of ['/models', '/models/user', '/models/count', '/embeddings/models', '/providers', '/key', '/auth/key', '/credits'])
      await simple('GET', api + path)
    await call('GET', `${api}/models/acme/small`, `${api}/models/{author}/{slug}`)
    await call('GET', `${api}/models/acme%2Fsmall`, `${api}/models/{id}`)
    await simple('GET', '/api/v1beta/models')
    await call('GET', '/api/v1beta/models/acme/small', '/api/v1beta/models/{model}')
    await call('GET', `${api}/models/acme/small/endpoints`, `${api}/models/{author}/{slug}/endpoints`)

    const { hash } = dataOf(await simple('POST', `${api}/keys`, { name: 'a', limit: 1, rate_limits: { requests_per_minute: 9 } }))
    await simple('GET', `${api}/keys`)
    const aKey = (method: string, body?: object) => call(method, `${api}/keys/${hash}`, `${api}/keys/{hash}`, body)
    await aKey('GET')
    await aKey('PATCH', { limit: 'much' })
    await call('POST', `${api}/keys/${hash}/rotate`, `${api}/keys/{hash}/rotate`, { grace_seconds: 60 })
    await call('POST', `${api}/keys/${hash}/rotate`, `${api}/keys/{hash}/rotate`, { grace_seconds: -1 })
    await aKey('GET')
    await call('DELETE', `${api}/keys/${hash}/previous-secrets`, `${api}/keys/{hash}/previous-secrets`)
    await aKey('PATCH', { disabled: true })
    await aKey('DELETE')
    await aKey('GET')

    const { id } = dataOf(
      await simple('POST', `${api}/workspaces`, { name: 'W', slug: 'w', default_text_model: 'acme/small', rate_limits: { requests_per_minute: 5 } }),
    )
    await simple('GET', `${api}/workspaces`)
    const aWorkspace = (method: string, rest: string, template: string, body?: object) =>
      call(method, `${api}/workspaces/${id}${rest}`, `${api}/workspaces/{id}${template}`, body)
    await aWorkspace('GET', '', '')
    await aWorkspace('PATCH', '', '', { description: 'changed' })
    await aWorkspace('PUT', '/budgets/daily', '/budgets/{interval}', { limit_usd: 1 })
    await aWorkspace('GET', '/budgets', '/budgets')
    await aWorkspace('GET', '/budgets/daily', '/budgets/{interval}')
    await aWorkspace('GET', '/budgets/monthly', '/budgets/{interval}')
    await aWorkspace('DELETE', '/budgets/daily', '/budgets/{interval}')
    await aWorkspace('DELETE', '', '')

    const { id: own } = dataOf(await simple('POST', `${api}/byok`, { provider: 'acme', key: 'sk-own-0123456789', allowed_models: ['acme/*'] }))
    await simple('GET', `${api}/byok`)
    const anOwnKey = (method: string, body?: object) => call(method, `${api}/byok/${own}`, `${api}/byok/{id}`, body)
    await anOwnKey('GET')
    await anOwnKey('PATCH', { is_fallback: true })
    await anOwnKey('DELETE')

    await exercisePolicies(call, dataOf)

    await gateway.api('PATCH', `${api}/workspaces/00000000-0000-4000-8000-000000000001`, { is_observability_io_logging_enabled: true })
    const served = await gateway.respond({ model: 'acme/small', input: 'hi' })
    await served.arrayBuffer()
    const generation = served.headers.get('x-generation-id')
    await gateway.app.sink.flush()
    for (const path of [`${api}/generation`, `${api}/generation/content`]) {
      await call('GET', `${path}?id=${generation}`, path)
      await call('GET', `${path}?id=nobody`, path)
      await call('GET', path, path)
    }
    await simple('GET', `${api}/generations`)
    await call('GET', `${api}/generations?cursor=none`, `${api}/generations`)
    for (const id of [generation, 'nobody']) await call('GET', `${api}/generations/${id}`, `${api}/generations/{id}`)
    await simple('GET', `${api}/activity`)

    const destinations = `${api}/observability/destinations`
    const config = { url: 'https://receiver.example/x', headers: { 'x-a': 'secret' } }
    const rules = { groups: [{ rules: [{ field: 'model', operator: 'contains', value: 'acme' }] }] }
    const { id: destination } = dataOf(await simple('POST', destinations, { type: 'webhook', name: 'd', config, filter_rules: rules }))
    await simple('POST', destinations, { type: 'webhook', name: 'd', config: {} })
    await simple('GET', destinations)
    const aDestination = (method: string, rest: string, body?: object) =>
      call(method, `${destinations}/${destination}${rest}`, `${destinations}/{id}${rest}`, body)
    await aDestination('GET', '')
    await aDestination('PATCH', '', { name: 'e' })
    for (const action of ['/test', '/send-test', '/pause', '/resume', '/dead-letters/replay', '/dead-letters/purge'])
      await aDestination('POST', action)
    for (const view of ['/status', '/dead-letters']) await aDestination('GET', view)
    await aDestination('DELETE', '')
  }
})

const CONTRACT = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../shared/fixtures'), '../contract/openapi.json')

/** Deliberate differences, and why. */
const DIFFERENCES: readonly (readonly [RegExp, why: string])[] = [
  [/status 5(?:24|29) is missing$/, 'of a network in front of the hosted service'],
  [/^get \/generation(?:\/content)? status (?:402|403|429|502) is missing$/, 'reading a record costs nothing, and any key of its workspace may'],
  [/^post \/chat\/completions body\.modalities\[\]: does not take audio$/, 'answers in sound are refused, not left out'],
  [/^\w+ \/keys\S* status 429 is missing$/, 'management is not limited'],
  [/^get \/models\S* status 403 is missing$/, 'any key may read the catalog'],
  [
    /^get \/models parameter (?:category|use_rss\w*|arch|region|m(?:in|ax)_\w+) is missing$/,
    'figures and feeds of the hosted catalog: taken, without effect',
  ],
]

describe.skipIf(!existsSync(CONTRACT))('operations that the contract has, too', () => {
  const contract = existsSync(CONTRACT) ? (JSON.parse(readFileSync(CONTRACT, 'utf8')) as ApiDocument) : { paths: {}, components: { schemas: {} } }
  const shared = Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method} ${path}`, path, method, operation] as const),
  )

  it('there are many', () => expect(shared.length).toBeGreaterThan(30))

  it.each(shared)('%s agrees', (title, path, method, theirs) => {
    const ours = document.paths[`/api/v1${path}`]?.[method]
    if (ours === undefined) return expect(title).toMatch(NOT_SERVED)
    const problems: string[] = []
    const compare = (direction: Direction, name: string, their: object | undefined, our: object | undefined): void => {
      if (their === undefined) return
      if (our === undefined) problems.push(`${name} is missing`)
      else problems.push(...compareSchemas(direction, [contract, their as never], [document, our as never]).map((problem) => `${name}${problem}`))
    }
    for (const [status, { content }] of Object.entries(theirs.responses).filter(([code]) => code < '300'))
      compare('answer', status, content?.['application/json']?.schema, ours.responses[status]?.content?.['application/json']?.schema)
    compare('request', 'body', theirs.requestBody?.content['application/json']?.schema, ours.requestBody?.content['application/json']?.schema)
    for (const parameter of theirs.parameters ?? [])
      if (ours.parameters?.some(({ name, in: place }) => name.toLowerCase() === parameter.name.toLowerCase() && place === parameter.in) !== true)
        problems.push(`parameter ${parameter.name} is missing`)
    for (const status of Object.keys(theirs.responses)) if (!(status in ours.responses)) problems.push(`status ${status} is missing`)
    expect(problems.filter((problem) => !DIFFERENCES.some(([pattern]) => pattern.test(`${title} ${problem}`)))).toEqual([])
  })
})

/** Parts of the contract that are not served (yet). */
const NOT_SERVED = /^post \/embeddings$/
