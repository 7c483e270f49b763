import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Attempts of a caller or a tenant to bypass the operator's guardrails: filler, depth, slow patterns, other names. */
type Json = { readonly [field: string]: unknown }

const MODEL = 'demo/echo'
let gateway: TestGateway
let tenant: { readonly id: string; readonly management: string; readonly key: string; readonly hash: string; readonly guardrail: string }

beforeAll(async () => {
  gateway = await startGateway({
    guardrails: {
      rules: [
        {
          name: 'texts',
          workspaces: ['default'],
          content_filter_builtins: [
            { slug: 'email', action: 'redact' },
            { slug: 'ssn', action: 'redact' },
            { slug: 'credit-card', action: 'block' },
          ],
        },
        { name: 'by slug', workspaces: ['team-a'], content_filter_builtins: [{ slug: 'ssn', action: 'block' }] },
        { name: 'by key', keys: ['intern'], content_filter_builtins: [{ slug: 'phone', action: 'block' }] },
      ],
    },
  })
  const workspace = (await send('POST', '/workspaces', 201, { name: 'A', slug: 'team-a' })).data
  const id = workspace['id'] as string
  const management = (await gateway.app.accounts.create({ name: 'm', kind: 'management', workspaceId: id })).secret.reveal()
  const { key, data } = await send('POST', '/keys', 201, { name: 'intern' }, management)
  tenant = { id, management, key, hash: data['hash'] as string, guardrail: workspace['default_guardrail_id'] as string }
})
afterAll(() => gateway.close())

async function send(
  method: string,
  path: string,
  status: number,
  body?: object,
  key?: string,
): Promise<{ readonly data: Json; readonly key: string }> {
  const response = await gateway.api(method, `/api/v1${path}`, body, key)
  const text = await response.text()
  if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} instead of ${status}: ${text}`)
  return JSON.parse(text) as { data: Json; key: string }
}

async function ask(body: object, key?: string): Promise<{ readonly status: number; readonly text: string; readonly id: string }> {
  const response = await gateway.respond({ model: MODEL, ...body }, key === undefined ? {} : { key })
  return { status: response.status, text: await response.text(), id: response.headers.get('x-generation-id')! }
}
const afterFiller = (last: string, filler = 20_000) =>
  ask({
    input: [
      { role: 'user', content: 'a@b.cc '.repeat(filler) },
      { role: 'user', content: last },
    ],
  })

describe(verifies('K3', 'a filter cannot be got round by'), () => {
  it('filler before what it blocks', async () => {
    const { status, text } = await afterFiller('card 4111 1111 1111 1111')
    expect(status).toBe(403)
    expect(text).toContain('Credit card number')
  })

  it('filler before what it redacts', async () => {
    const { status, text } = await afterFiller('ssn 219-09-9999, boss@corp.example')
    expect(status).toBe(200)
    expect(text).toContain('ssn [SSN], [EMAIL]')
    expect(text).not.toContain('219-09')
  })

  it('more filler than can be removed, and nothing of it is stored', async () => {
    await send('PATCH', '/workspaces/default', 200, { is_observability_io_logging_enabled: true })
    const { status, text, id } = await afterFiller('boss@corp.example', 100_001)
    await send('PATCH', '/workspaces/default', 200, { is_observability_io_logging_enabled: false })
    expect(status).toBe(403)
    expect(text).toContain('more findings than can be taken out')
    await gateway.app.sink.flush()
    const content = await (await gateway.api('GET', `/api/v1/generation/content?id=${id}`)).text()
    expect(content).toContain('[NOT_READ]')
    expect(content).not.toMatch(/a@b|corp/)
  })

  it('the depth of a schema', async () => {
    const nest = (levels: number): unknown => (levels === 0 ? { description: '4111 1111 1111 1111' } : { not: nest(levels - 1) })
    for (const levels of [60, 70, 240])
      expect((await ask({ input: 'hi', tools: [{ type: 'function', name: 'f', parameters: nest(levels) }] })).status).toBe(403)
  })
})

describe(verifies('B7', 'patterns of a workspace'), () => {
  it('are refused when they would slow down other workspaces', async () => {
    const filters = { content_filters: [{ pattern: '(?:a?){900}b', action: 'flag' }] }
    const response = await gateway.api('PATCH', `/api/v1/guardrails/${tenant.guardrail}`, filters, tenant.management)
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('too large: 1803 instructions of at most 500')
  })
})

describe('a guardrail of the configuration', () => {
  const ssn = { input: '219-09-9999' }
  const phone = { input: 'call 914-309-4996' }

  it('cannot be lifted by those it applies to: neither with another slug nor with another name', async () => {
    expect((await ask(ssn, tenant.key)).status).toBe(403)
    const slug = await gateway.api('PATCH', `/api/v1/workspaces/${tenant.id}`, { slug: 'team-b' }, tenant.management)
    expect(slug.status).toBe(403)
    expect(await slug.text()).toContain('names this workspace by its slug')
    expect((await ask(ssn, tenant.key)).status).toBe(403)

    expect((await ask(phone, tenant.key)).status).toBe(403)
    const name = await gateway.api('PATCH', `/api/v1/keys/${tenant.hash}`, { name: 'boss' }, tenant.management)
    expect(name.status).toBe(403)
    expect(await name.text()).toContain('names this key')
    expect((await ask(phone, tenant.key)).status).toBe(403)
  })

  it('lets those it applies to change everything else, and the operator everything', async () => {
    await send('PATCH', `/workspaces/${tenant.id}`, 200, { name: 'Team A', slug: 'team-a' }, tenant.management)
    await send('PATCH', `/keys/${tenant.hash}`, 200, { name: 'intern', limit: 5 }, tenant.management)
    const other = await send('POST', '/keys', 201, { name: 'other' }, tenant.management)
    await send('PATCH', `/keys/${other.data['hash'] as string}`, 200, { name: 'another' }, tenant.management)
    await send('PATCH', `/keys/${tenant.hash}`, 200, { name: 'graduate' })
    await send('PATCH', `/workspaces/${tenant.id}`, 200, { slug: 'team-c' })
    expect((await ask(phone, tenant.key)).status).toBe(200)
    expect((await ask(ssn, tenant.key)).status).toBe(200)
    // Once nothing names the workspace any more, it may change its slug itself.
    await send('PATCH', `/workspaces/${tenant.id}`, 200, { slug: 'team-d' }, tenant.management)
  })
})
