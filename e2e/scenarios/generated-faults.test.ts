import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { seeded } from '../../src/testing/replay-server.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import {
  BUSY,
  costOf,
  FAULTS,
  forecast,
  HEALTHY,
  pricesOf,
  wordsOf,
  type Asked,
  type Fault,
  type Forecast,
  type Schedule,
} from '../fault-schedule.ts'
import { verifies } from '../requirements.ts'

/** Calls whose endpoints fail by generated schedules, through the whole gateway over real sockets, compared with a forecast. */

const PROVIDERS = 4
const MODELS = ['acme/a', 'acme/b', 'acme/c']
const CASES = 60
const AT_ONCE = 15

const BROKEN = FAULTS.filter(({ meaning }) => meaning === 'broken')

interface Case extends Schedule {
  readonly id: number
  readonly streamed: boolean
  readonly mode: 'fail' | 'buffer'
  readonly sent: string[]
  open: number
}
const cases = new Map<number, Case>()
let gateway: TestGateway

/** All providers in one server: the path identifies the provider, the model the endpoint, and the prompt the case. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()))
})
function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const asked: Asked = { p: Number(request.url![1]), m: Number(/"up-(\d)"/.exec(body)![1]) }
  const one = cases.get(Number(/case (\d+)\./.exec(body)![1]))!
  const mine = `${asked.p}/${asked.m} `
  const fault = one.faultOf(asked, one.sent.filter((line) => line.startsWith(mine)).length)
  one.sent.push(mine + fault.name)
  one.open++
  response.on('close', () => one.open--)
  // If a reused connection breaks, the client itself retries the request, so each connection is used once.
  response.setHeader('connection', 'close')
  void fault.reply(asked)({} as never, response)
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const numbers = Array.from({ length: PROVIDERS }, (_, p) => p)
  gateway = await startGateway({
    providers: numbers.map((p) => ({
      slug: `p${p}`,
      name: `P${p}`,
      dialect: 'openai-chat',
      base_url: `http://127.0.0.1:${port}/${p}/v1`,
      api_keys: ['k'],
      timeouts: { first_token: '1500ms', idle: '1500ms' },
    })),
    models: MODELS.map((slug, m) => ({
      slug,
      context_length: 128_000,
      endpoints: numbers.map((p) => ({ provider: `p${p}`, upstream_model: `up-${m}`, pricing: pricesOf({ p, m }) })),
    })),
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  server.closeAllConnections()
  server.close()
})

function generate(): readonly Case[] {
  const random = seeded(20_261_126)
  const draw = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const some = (count: number, most: number): readonly number[] =>
    Array.from({ length: count }, (_, n) => ({ n, at: random() }))
      .sort((a, b) => a.at - b.at)
      .slice(0, 1 + Math.floor(random() * most))
      .map(({ n }) => n)
  return Array.from({ length: CASES }, (_, id): Case => {
    const [streamed, mode] = [random() < 0.5, draw(['fail', 'buffer'] as const)]
    // At most two endpoints per provider, so that there are few tries: more would be delayed.
    const [order, models] = [some(PROVIDERS, 4), some(MODELS.length, 2)]
    const faults = new Map<string, readonly Fault[]>()
    for (const p of order)
      for (const m of models) {
        const one = (mayBeBusy: boolean): Fault =>
          draw(random() < 0.2 ? HEALTHY : mayBeBusy && random() < 0.3 ? BUSY : random() < 0.3 ? BROKEN : FAULTS)
        // At most twice, because a busy endpoint is then avoided for seconds.
        const first = p === order[0] && m === models[0]
        faults.set(`${p}/${m}`, [one(first), one(first), one(false)])
      }
    const faultOf = ({ p, m }: Asked, nth: number): Fault => faults.get(`${p}/${m}`)!.at(Math.min(nth, 2))!
    return { id, streamed, mode, holdsBack: mode === 'buffer' || !streamed, order, models, faultOf, sent: [], open: 0 }
  })
}

interface Told {
  readonly status: number
  readonly kind: string
  readonly text: string
  readonly resource: { readonly [field: string]: unknown }
  readonly generation: string
}

const statusOf = ({ status, output_text: text }: Told['resource']): Pick<Told, 'kind' | 'text'> =>
  typeof status === 'string' && typeof text === 'string' ? { kind: status, text } : { kind: 'error', text: '' }

async function ask({ id, order, models, streamed, mode }: Case): Promise<Told> {
  const providers = order.map((p) => `p${p}`)
  const response = await gateway.respond(
    { models: models.map((m) => MODELS[m]), input: `case ${id}.`, stream: streamed, provider: { order: providers, only: providers } },
    { headers: { 'x-gateway-stream-failure': mode } },
  )
  const body = await response.text()
  const common = { status: response.status, generation: response.headers.get('x-generation-id')! }
  if (response.headers.get('content-type') === 'application/json') {
    const resource = JSON.parse(body) as Told['resource']
    return { ...common, ...statusOf(resource), resource }
  }
  const { terminal, text } = checkWire(body)
  return { ...common, kind: terminal.type.replace('response.', ''), text, resource: terminal['response'] as Told['resource'] }
}

/** The status of a call that nobody served, by the precedence of its endpoints' errors. */
function statusesOf({ met }: Forecast): readonly number[] {
  if (met.has('model')) return [400, 422]
  if (met.has('again')) return [502, 503]
  if (met.has('next')) return [408, 404, 413]
  return met.has('busy') ? [429] : [502]
}

async function expectForecast(one: Case): Promise<void> {
  const expected = forecast(one)
  const told = await ask(one)
  expect(one.sent).toEqual(expected.sent)
  const { kind, text, resource } = told
  const { data: record } = (await (await gateway.api('GET', `/api/v1/generation?id=${told.generation}`)).json()) as {
    readonly data: Told['resource']
  }
  // There may be more: attempts that could not be sent for lack of a key.
  expect((record['provider_responses'] as readonly unknown[]).length).toBeGreaterThanOrEqual(expected.sent.length)
  if (expected.end === 'served') {
    const by = expected.by!
    expect({ kind, text, model: resource['model'] }).toEqual({ kind: 'completed', text: wordsOf(by).join(''), model: MODELS[by.m] })
    expect(record).toMatchObject({ provider_name: `P${by.p}`, model: MODELS[by.m] })
    expect(record['total_cost']).toBeCloseTo(costOf(by), 10)
    expect((resource['usage'] as { readonly cost: number }).cost).toBeCloseTo(costOf(by), 10)
  } else if (expected.end === 'broken') {
    expect({ kind, text }).toEqual({ kind: 'failed', text: wordsOf(expected.by!).slice(0, 2).join('') })
    expect(record['provider_name']).toBe(`P${expected.by!.p}`)
  } else {
    expect(kind).toBe('error')
    expect(statusesOf(expected)).toContain(told.status)
    expect(record['total_cost']).toBe(0)
  }
}

describe('calls whose endpoints fail by generated schedules', () => {
  it(
    verifies(
      'P12',
      'P15',
      'P16',
      'P21',

      'P33',
      'P35',
      'C1',
      'C4',
      'C8',
      'are served whenever the retry rules allow, by one endpoint alone, and reported and recorded as they went',
    ),
    async () => {
      const all = generate()
      for (const one of all) cases.set(one.id, one)
      const failed: string[] = []
      const left = [...all]
      const work = async (until: number): Promise<void> => {
        for (let one = left.pop(); one !== undefined; one = left.length > until ? left.pop() : undefined) {
          const { id } = one
          await expectForecast(one).catch((error: Error) => failed.push(`case ${id}: ${error.message}`))
        }
      }
      // On a busy machine, many simultaneous first calls take longer than an endpoint may be silent here.
      await work(CASES - 3)
      await Promise.all(Array.from({ length: AT_ONCE }, () => work(0)))
      expect(failed).toEqual([])
      // The schedules cover every outcome.
      const ends = all.map((one) => forecast(one).end)
      for (const end of ['served', 'broken', 'failed'] as const) expect(ends.filter((other) => other === end).length).toBeGreaterThan(3)
      await expect.poll(() => all.filter(({ open }) => open > 0).length).toBe(0)
    },
    60_000,
  )
})
