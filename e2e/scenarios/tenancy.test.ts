import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiDocument, Operation } from '../../src/testing/compare-schemas.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/**
 * The isolation of workspaces and of kinds of keys, for every route of `/openapi.json`; another test ensures that it lists all routes. A new route is
 * tested here automatically, and fails if the test does not know how to call it.
 */

type Keyed = Operation & { readonly 'x-key': 'none' | 'any' | 'inference' | 'management' }
interface Route {
  readonly title: string
  readonly method: string
  readonly path: string
  readonly operation: Keyed
}

/** A workspace's resources, which others must not reach. */
interface Tenant {
  readonly workspace: string
  readonly slug: string
  readonly inference: string
  readonly management: string
  readonly keyHash: string
  readonly ownKey: string
  readonly destination: string
  readonly generation: string
  readonly guardrail: string
  readonly preset: string
}

/** The id of a resource in a path, by the segment before it. */
const IN_PATH: readonly (readonly [prefix: string, id: (tenant: Tenant) => string])[] = [
  ['/api/v1/keys/', ({ keyHash }) => keyHash],
  ['/api/v1/workspaces/', ({ workspace }) => workspace],
  ['/api/v1/byok/', ({ ownKey }) => ownKey],
  ['/api/v1/observability/destinations/', ({ destination }) => destination],
  ['/api/v1/guardrails/', ({ guardrail }) => guardrail],
  ['/api/v1/presets/', ({ preset }) => preset],
  ['/api/v1/generations/', ({ generation }) => generation],
]
/** Path parameters after the id. */
const BEHIND: { readonly [parameter: string]: string } = { interval: 'daily', version: '1' }
/** Belongs to nobody: everyone may read this. */
const PUBLIC_KNOWLEDGE = /^GET \/api\/v1(?:beta)?\/(?:models|providers)\b/
/** Query parameters that name a resource. */
const IN_QUERY: { readonly [operation: string]: (tenant: Tenant) => { readonly [parameter: string]: string } } = {
  getGeneration: ({ generation }) => ({ id: generation }),
  listGenerationContent: ({ generation }) => ({ id: generation }),
  getUserActivity: ({ keyHash }) => ({ api_key_hash: keyHash }),
}
/** A body that each route would accept if the resource belonged to the caller. */
const BODIES: { readonly [operation: string]: (tenant: Tenant) => object } = {
  createKeys: () => ({ name: 'intruder' }),
  updateKeys: () => ({ name: 'intruder' }),
  rotateKey: () => ({ grace_seconds: 0 }),
  createWorkspace: () => ({ name: 'Intruder', slug: 'intruder' }),
  updateWorkspace: () => ({ name: 'intruder' }),
  upsertWorkspaceBudget: () => ({ limit_usd: 0.5 }),
  createBYOKKey: () => ({ provider: 'acme', key: 'sk-intruder-0123456789' }),
  updateBYOKKey: () => ({ disabled: true }),
  createObservabilityDestination: () => ({ type: 'webhook', name: 'intruder', config: { url: 'https://intruder.example' } }),
  updateObservabilityDestination: () => ({ enabled: false }),
  createGuardrail: () => ({ name: 'intruder' }),
  updateGuardrail: () => ({ name: 'intruder' }),
  bulkAssignKeysToGuardrail: ({ keyHash }) => ({ key_hashes: [keyHash] }),
  bulkUnassignKeysFromGuardrail: ({ keyHash }) => ({ key_hashes: [keyHash] }),
  createPreset: () => ({ slug: 'intruder' }),
  updatePreset: () => ({ description: 'intruder' }),
  createPresetsResponses: () => ({ temperature: 0 }),
}

let upstream: FakeUpstream
let gateway: TestGateway
let routes: readonly Route[]
let theirs: Tenant
let mine: Tenant

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url]))
  const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as ApiDocument
  routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation: operation as Keyed,
    })),
  )
  theirs = await createTenant('theirs')
  mine = await createTenant('mine')
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function createTenant(slug: string): Promise<Tenant> {
  const create = async (
    path: string,
    body: object,
    key?: string,
  ): Promise<{ readonly data: { readonly [field: string]: string }; readonly key: string }> => {
    const response = await gateway.api('POST', `/api/v1${path}`, body, key)
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as never
  }
  const workspace = (await create('/workspaces', { name: slug, slug, is_observability_io_logging_enabled: true })).data['id']!
  const management = (await gateway.app.accounts.create({ name: 'management', kind: 'management', workspaceId: workspace })).secret.reveal()
  const { data, key: inference } = await create('/keys', { name: `key of ${slug}` }, management)
  const served = await gateway.respond({ model: 'acme/small', input: `said by ${slug}` }, { key: inference })
  await served.arrayBuffer()
  await gateway.app.sink.flush()
  const webhook = { type: 'webhook', name: `destination of ${slug}`, config: { url: `https://${slug}.example` } }
  const tenant = {
    workspace,
    slug,
    inference,
    management,
    keyHash: data['hash']!,
    ownKey: (await create('/byok', { provider: 'acme', key: `sk-${slug}-0123456789`, disabled: true }, management)).data['id']!,
    destination: (await create('/observability/destinations', webhook, management)).data['id']!,
    generation: served.headers.get('x-generation-id')!,
    guardrail: (await create('/guardrails', { name: `guardrail of ${slug}` }, management)).data['id']!,
    preset: (await create('/presets', { slug: `preset-of-${slug}` }, management)).data['slug']!,
  }
  await gateway.api('PUT', `/api/v1/workspaces/${workspace}/budgets/daily`, { limit_usd: 9 }, management)
  return tenant
}

const managed = (): readonly Route[] => routes.filter(({ operation }) => operation['x-key'] === 'management' || operation['x-key'] === 'any')
const pathOf = (path: string, id: string): string =>
  path.replace(/\{[^}]+\}/, id).replaceAll(/\{([^}]+)\}/g, (_, name: string) => BEHIND[name] ?? name)

/** A request for a resource of `owner` in its path or query; undefined for routes without one. */
function requestFor({ path, operation }: Route, owner: Tenant): { readonly url: string; readonly body?: object } | undefined {
  const { operationId = '', requestBody } = operation
  const body = bodyOf(operationId, requestBody !== undefined, owner)
  const query = IN_QUERY[operationId]
  if (query !== undefined) return { url: `${path}?${new URLSearchParams(query(owner)).toString()}` }
  if (!path.includes('{')) return undefined
  const found = IN_PATH.find(([prefix]) => path.startsWith(`${prefix}{`))
  if (found === undefined) throw new Error(`${path}: say in IN_PATH whose resource this is`)
  return { url: pathOf(path, found[1](owner)), ...(body === undefined ? {} : { body }) }
}

function bodyOf(operationId: string, takesOne: boolean, owner: Tenant): object | undefined {
  const body = BODIES[operationId]?.(owner)
  if (takesOne && body === undefined && !NO_BODY_NEEDED.test(operationId)) throw new Error(`${operationId}: say in BODIES what a valid body is`)
  return body
}
/** Routes with names instead of ids: in another workspace the same name means another resource, which is created there. */
const MADE_IN_OWN_WORKSPACE: ReadonlySet<string> = new Set(['createPresetsResponses'])
const NO_BODY_NEEDED = /^(?:replay|purge)ObservabilityDeadLetters$/

const ask = async (
  method: string,
  url: string,
  body: object | undefined,
  key?: string,
): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await gateway.api(method, url, body, key)
  return { status: response.status, text: await response.text() }
}

/** Everything that a tenant can see of itself, except for what changes on its own. */
async function viewOf(tenant: Tenant): Promise<string> {
  const seen: string[] = []
  for (const route of managed()) {
    if (route.method !== 'GET' || PUBLIC_KNOWLEDGE.test(route.title) || route.path === '/api/v1/key') continue
    const request = requestFor(route, tenant) ?? { url: route.path }
    const { status, text } = await ask('GET', request.url, undefined, tenant.management)
    seen.push(`${route.title} ${status} ${text}`)
  }
  return seen.join('\n')
}

describe('every route', () => {
  it(verifies('S4-tenancy', 'F3', 'refuses callers without a key, and keys of the wrong kind before it looks at anything else'), async () => {
    for (const { title, method, path, operation } of routes) {
      const url = pathOf(path, 'x')
      const body = operation.requestBody === undefined ? undefined : {}
      const statusWith = async (key: string): Promise<readonly [string, number]> => [title, (await ask(method, url, body, key)).status]
      const kind = operation['x-key']
      if (kind === 'none') continue
      expect(await statusWith('sk-sb-v1-unknown')).toEqual([title, 401])
      if (kind === 'management') expect(await statusWith(mine.inference)).toEqual([title, 403])
      if (kind === 'inference') expect(await statusWith(mine.management)).toEqual([title, 403])
    }
  })

  it(verifies('S4-tenancy', 'F1', 'answers 404 to keys of another workspace, whatever they want of a resource, and changes nothing'), async () => {
    const before = await viewOf(theirs)
    expect(before).toContain('said by theirs')
    let tried = 0
    for (const route of managed()) {
      if (PUBLIC_KNOWLEDGE.test(route.title)) continue
      const request = requestFor(route, theirs)
      if (request === undefined) continue
      tried++
      // An inference key may not change a preset that the other key has just made in their own workspace.
      const intruders = route.operation['x-key'] === 'any' ? [mine.inference, mine.management] : [mine.management]
      const expected = MADE_IN_OWN_WORKSPACE.has(route.operation.operationId ?? '') ? 200 : 404
      for (const key of intruders)
        expect([route.title, (await ask(route.method, request.url, request.body, key)).status]).toEqual([route.title, expected])
    }
    expect(tried).toBeGreaterThan(30)
    expect(await viewOf(theirs)).toBe(before)
  })

  it(verifies('S4-tenancy', 'F1', 'F2', 'refuses another workspace in a query or a body'), async () => {
    const before = await viewOf(theirs)
    let tried = 0
    for (const route of managed()) {
      const { method, path, operation, title } = route
      if (PUBLIC_KNOWLEDGE.test(title)) continue
      const own = requestFor(route, mine) ?? { url: path, body: bodyOf(operation.operationId ?? '', operation.requestBody !== undefined, mine) }
      const named = { workspace_id: theirs.workspace }
      if (operation.parameters?.some(({ name, in: place }) => place === 'query' && name === 'workspace_id') === true) {
        tried++
        const url = `${own.url}${own.url.includes('?') ? '&' : '?'}${new URLSearchParams(named).toString()}`
        const { status, text } = await ask(method, url, own.body, mine.management)
        expect([title, status]).toEqual([title, 404])
        expect(text).not.toContain(theirs.slug)
      }
      if (method === 'POST' && own.body !== undefined && !path.includes('{')) {
        const { status } = await ask(method, path, { ...own.body, ...named }, mine.management)
        // Routes without this field refuse it; the contract's creation routes have 403 and no 404.
        const expected = operation.operationId === 'createWorkspace' ? 400 : 403
        expect([title, status]).toEqual([title, expected])
        tried++
      }
    }
    expect(tried).toBeGreaterThan(10)
    expect(await viewOf(theirs)).toBe(before)
  })

  it(verifies('S4-tenancy', 'F1', 'lists nothing of another workspace'), async () => {
    const markers = [
      theirs.workspace,
      theirs.keyHash,
      theirs.ownKey,
      theirs.destination,
      theirs.generation,
      theirs.guardrail,
      'of theirs',
      'by theirs',
    ]
    for (const route of managed()) {
      if (
        route.method !== 'GET' ||
        route.path.includes('{') ||
        route.operation.operationId === 'listGenerationContent' ||
        route.operation.operationId === 'getGeneration'
      )
        continue
      for (const key of route.operation['x-key'] === 'any' ? [mine.management, mine.inference] : [mine.management]) {
        const { status, text } = await ask('GET', route.path, undefined, key)
        expect([route.title, status]).toEqual([route.title, 200])
        expect(markers.filter((marker) => text.includes(marker))).toEqual([])
      }
    }
  })
})
