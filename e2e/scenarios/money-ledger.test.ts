import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCostReport } from '../../src/accounts/cost-report.ts'
import { createStore } from '../../src/store/index.ts'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, reset, silence, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { dice, type Dice } from '../../src/testing/money-ledger.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Calls with every outcome, by keys with and without own provider keys, compared with their costs according to the guide to costs. */
const CALLS = 160
const LANES = 8
const DEFAULT_WORKSPACE = '00000000-0000-4000-8000-000000000001'

/** How a provider treats a call, and the tokens that it counts. */
interface Fate {
  readonly kind: 'answers' | 'revises' | 'fails' | 'resets' | 'breaks' | 'hangs' | 'is silent'
  readonly input: number
  readonly cached: number
  readonly output: number
  /** Reported by the provider itself. */
  readonly cost?: number
}
interface Price {
  readonly input: number
  readonly output: number
  readonly cache_read?: number
  readonly request?: number
  readonly tiers?: readonly { readonly from_input_tokens: number; readonly input?: number; readonly output?: number }[]
}
type Provider = 'acme' | 'backup'
const PRICES: { readonly [model: string]: { readonly [P in Provider]: Price } } = {
  'm/plain': { acme: { input: 1, output: 2, cache_read: 0.1 }, backup: { input: 3, output: 6 } },
  'm/tiny': { acme: { input: 1e-6, output: 2e-6 }, backup: { input: 1e-6, output: 1e-6 } },
  'm/dear': { acme: { input: 1e5, output: 3e5, request: 7 }, backup: { input: 1e5, output: 1e6 } },
  'm/free': { acme: { input: 0, output: 0 }, backup: { input: 0, output: 0 } },
  'm/long': { acme: { input: 1, output: 2, tiers: [{ from_input_tokens: 1_000, input: 2, output: 4 }, { from_input_tokens: 100, output: 3 }] }, backup: { input: 1, output: 1 } },
} // prettier-ignore

function priceOf(price: Price, { input, cached, output, cost }: Fate): number {
  if (cost !== undefined) return cost
  const tier = (price.tiers ?? []).filter((each) => each.from_input_tokens <= input).toSorted((a, b) => b.from_input_tokens - a.from_input_tokens)[0]
  const rates = { ...price, ...tier }
  return ((input - cached) * rates.input + cached * (rates.cache_read ?? rates.input) + output * rates.output) / 1e6 + (price.request ?? 0)
}

const words = [chatEvents.role(), chatEvents.text('Once upon '), chatEvents.text('a time')]
const usageOf = ({ input, cached, output, cost }: Fate): object => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  ...(cost === undefined ? {} : { cost }),
})
const REPLIES: { readonly [K in Fate['kind']]: (fate: Fate) => Reply } = {
  answers: (fate) => stream([...words, chatEvents.finish(), chatEvents.usage(usageOf(fate)), chatEvents.done()]),
  revises: (fate) => stream([...words, chatEvents.usage(usageOf({ ...fate, input: 1, cached: 0, output: 1 })), chatEvents.finish(), chatEvents.usage(usageOf(fate)), chatEvents.done()]),
  fails: () => status(503, { error: { message: 'busy' } }),
  resets: reset,
  breaks: () => stream(words, { then: 'reset' }),
  hangs: () => stream(words, { then: 'hang' }),
  'is silent': silence,
} // prettier-ignore

type Plan = { readonly [P in Provider]: Fate }
const PROVIDERS = ['acme', 'backup'] as const
const written = (plan: Plan): string => `plan:${Buffer.from(JSON.stringify(plan)).toString('base64')};`
const asPlanned =
  (provider: Provider): Reply =>
  (request, response) => {
    const [, plan = ''] = /plan:([^;]+);/.exec(JSON.stringify(request.body)) ?? []
    const fate = (JSON.parse(Buffer.from(plan, 'base64').toString()) as Plan)[provider]
    return REPLIES[fate.kind](fate)(request, response)
  }

let upstreams: readonly FakeUpstream[]
let gateway: TestGateway
let directory: string

beforeAll(async () => {
  upstreams = await Promise.all(PROVIDERS.map((provider) => startFakeUpstream(asPlanned(provider))))
  directory = await mkdtemp(join(tmpdir(), 'signalbox-money-'))
  gateway = await startGateway(
    {
      providers: PROVIDERS.map((slug, n) => ({ slug, name: slug, dialect: 'openai-chat', base_url: upstreams[n]!.url, api_keys: ['k'] })),
      models: Object.entries(PRICES).map(([slug, prices]) => ({
        slug,
        context_length: 2_000_000,
        endpoints: PROVIDERS.map((provider) => ({ provider, upstream_model: 's', pricing: prices[provider] })),
      })),
      routing: { sticky: false, cooldown: false, retries: false },
      limits: { credits: 1e9 },
    },
    { SIGNALBOX_DATA_DIR: directory },
  )
})
afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams) await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

interface Account {
  readonly hash: string
  readonly key: string
  readonly ownsAcme: boolean
}
/** What the gateway's accounts paid, and what own keys paid. */
interface Sum {
  paid: number
  own: number
}
interface Told {
  readonly cost: number
  readonly is_byok: boolean
  readonly cost_details: { readonly upstream_inference_cost: number | null }
}

interface Answer {
  readonly data: { readonly [field: string]: unknown }
  readonly key?: string
}

async function api(method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
  const response = await gateway.api(method, path, body, key)
  expect(response.status, `${method} ${path}`).toBeLessThan(300)
  return (await response.json()) as Answer
}

/** Two keys of the default workspace, and two of a workspace with its own key for acme. */
async function openAccounts(): Promise<readonly Account[]> {
  const { id } = (await api('POST', '/api/v1/workspaces', { name: 'own', slug: 'own' })).data
  await api('POST', '/api/v1/byok', { provider: 'acme', key: 'theirs', workspace_id: id })
  const limits = [{}, { limit: 1e8, limit_reset: 'daily' }, { limit: 1e8, include_byok_in_limit: true }, { limit: 1e8, limit_reset: 'monthly' }]
  return Promise.all(
    limits.map(async (limit, n) => {
      const ownsAcme = n > 1
      const made = await api('POST', '/api/v1/keys', { name: `k${n}`, workspace_id: ownsAcme ? id : DEFAULT_WORKSPACE, ...limit })
      return { hash: String(made.data['hash']), key: made.key!, ownsAcme }
    }),
  )
}

function fateOf(random: Dice, kinds: readonly Fate['kind'][]): Fate {
  const input = random.pick([1, 7, 99, 100, 999, 1_000, 123_457])
  const fate = { kind: random.pick(kinds), input, cached: random.pick([0, random.below(input + 1)]), output: random.pick([1, 17, 4_096, 100_000]) }
  return random.next() < 0.2 ? { ...fate, cost: random.pick([0, 1e-12, 0.1, 12.345]) } : fate
}

/** The cost of a call according to the guide, and who pays it. Undefined if only an estimate of what was written is known. */
function owed(model: string, plan: Plan, streamed: boolean, { ownsAcme }: Account): Sum | undefined {
  for (const provider of PROVIDERS) {
    const fate = plan[provider]
    if (fate.kind === 'is silent') break
    if (fate.kind === 'hangs' || (fate.kind === 'breaks' && streamed)) return undefined
    if (fate.kind !== 'answers' && fate.kind !== 'revises') continue
    const usd = priceOf(PRICES[model]![provider], fate)
    return ownsAcme && provider === 'acme' ? { paid: 0, own: usd } : { paid: usd, own: 0 }
  }
  return { paid: 0, own: 0 }
}

/** Makes one call and compares the answer and the record with the expected cost. */
async function call(random: Dice, account: Account): Promise<Sum> {
  const model = random.pick(Object.keys(PRICES))
  const streamed = random.next() < 0.6
  const leaves = random.next() < 0.15
  const plan: Plan = {
    acme: fateOf(
      random,
      leaves ? (streamed ? ['hangs', 'is silent'] : ['is silent']) : ['answers', 'answers', 'revises', 'fails', 'resets', 'breaks'],
    ),
    backup: fateOf(random, ['answers', 'revises', 'fails', 'breaks']),
  }
  const body = { model, stream: streamed, input: written(plan), max_output_tokens: 200_000, provider: { order: PROVIDERS } }
  const { id, usage } = await (leaves ? left(body, account, plan.acme.kind === 'hangs') : answered(body, account))
  const expected = owed(model, plan, streamed, account)
  const what = `${model} ${streamed ? 'streamed' : 'JSON'} ${JSON.stringify(plan)}`
  if (id === undefined) {
    expect({ what, expected }).toEqual({ what, expected: { paid: 0, own: 0 } })
    return { paid: 0, own: 0 }
  }
  const record = (await recordOf(id, account)) as { total_cost: number; usage: number; upstream_inference_cost: number | null; is_byok: boolean }
  const sum = { paid: record.total_cost, own: record.upstream_inference_cost ?? 0 }
  expect({ what, paid: record.usage }).toEqual({ what, paid: sum.paid })
  if (usage !== undefined) {
    const told = { paid: usage.cost, own: usage.cost_details.upstream_inference_cost ?? 0, isByok: usage.is_byok }
    expect({ what, ...told }).toEqual({ what, ...sum, isByok: record.is_byok })
  }
  if (expected === undefined) expect({ what, costs: sum.paid + sum.own > 0 }).toEqual({ what, costs: model !== 'm/free' })
  else {
    close(sum.paid, expected.paid, what)
    close(sum.own, expected.own, what)
  }
  return sum
}

interface Heard {
  readonly id?: string
  readonly usage?: Told
}

async function answered(body: { readonly stream: boolean }, { key }: Account): Promise<Heard> {
  const response = await gateway.respond(body, { key })
  const text = await response.text()
  if (response.status !== 200) return {}
  const answer = (body.stream ? checkWire(text).terminal['response'] : JSON.parse(text)) as { id: string; usage: Told }
  return { id: answer.id, usage: answer.usage }
}

/** Disconnects after the first words, or before any arrived. */
async function left(body: object, { key }: Account, afterWords: boolean): Promise<Heard> {
  const leaving = new AbortController()
  if (!afterWords) setTimeout(() => leaving.abort(), 30)
  let text = ''
  try {
    const response = await gateway.respond(body, { key, signal: leaving.signal })
    for await (const bytes of response.body!) {
      text += Buffer.from(bytes as Uint8Array).toString()
      if (text.includes('output_text.delta')) leaving.abort()
    }
  } catch {
    // The caller has disconnected.
  }
  const id = /"id":"(gen-[^"]+)"/.exec(text)?.[1]
  return id === undefined ? {} : { id }
}

async function recordOf(id: string, { key }: Account): Promise<object> {
  const get = () => gateway.api('GET', `/api/v1/generation?id=${id}`, undefined, key)
  await expect.poll(async () => (await get()).status).toBe(200)
  return ((await (await get()).json()) as { data: object }).data
}

const total = (sums: readonly Sum[]): Sum => sums.reduce((all, { paid, own }) => ({ paid: all.paid + paid, own: all.own + own }), { paid: 0, own: 0 })
const close = (actual: number, expected: number, what: string): void =>
  expect(Math.abs(actual - expected), `${what}: ${actual} and ${expected}`).toBeLessThan(1e-9 + expected * 1e-11)

it(verifies('P32', 'P33', 'the sums of answers, records, keys, activity, credits, metrics and the report agree'), async () => {
  const accounts = await openAccounts()
  const sums = accounts.map((): Sum[] => [])
  let n = 0
  const lane = async (seed: number): Promise<void> => {
    for (const random = dice(seed); n++ < CALLS;) {
      const who = random.below(accounts.length)
      sums[who]!.push(await call(random, accounts[who]!))
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, seed) => lane(seed + 1)))
  const all = total(sums.flat())
  await agreeWithKeys(accounts, sums.map(total))
  const activity = (await api('GET', '/api/v1/activity')).data as unknown as { usage: number; byok_usage_inference: number }[]
  const shown = total(activity.map(({ usage, byok_usage_inference }) => ({ paid: usage, own: byok_usage_inference })))
  close(shown.paid, all.paid, 'activity')
  close(shown.own, all.own, 'activity of own keys')
  close(Number((await api('GET', '/api/v1/credits')).data['total_usage']), all.paid, 'credits')
  const metrics = await (await gateway.api('GET', '/metrics')).text()
  const worth = [...metrics.matchAll(/^gateway_cost_usd_total\{.*\} (\S+)$/gm)].reduce((sum, [, usd]) => sum + Number(usd), 0)
  close(worth, all.paid + all.own, 'metrics')
  const report = await reported()
  close(report.paid, all.paid, 'report')
  close(report.own, all.own, 'report of own keys')
})

/** Compares the keys' reported spending, and checks that no reservation remains: everything that is left can be spent. */
async function agreeWithKeys(accounts: readonly Account[], sums: readonly Sum[]): Promise<void> {
  for (const [n, { hash, key }] of accounts.entries()) {
    const { data } = await api('GET', `/api/v1/keys/${hash}`)
    const { usage, usage_daily, usage_weekly, usage_monthly, byok_usage, limit, include_byok_in_limit } = data as { [field: string]: number | null }
    close(usage!, sums[n]!.paid, 'key')
    close(byok_usage!, sums[n]!.own, 'own keys')
    expect([usage_daily, usage_weekly, usage_monthly]).toEqual([usage, usage, usage])
    if (limit === null) continue
    const counted = usage! + (include_byok_in_limit ? byok_usage! : 0)
    await api('PATCH', `/api/v1/keys/${hash}`, { limit: counted + 1.01 })
    // One dollar by its output limit, of which nothing is used, because the provider fails.
    const plan = { acme: { kind: 'fails' }, backup: { kind: 'fails' } } as unknown as Plan
    const provider = { order: ['backup'], allow_fallbacks: false }
    const response = await gateway.respond({ model: 'm/dear', input: written(plan), max_output_tokens: 1, provider }, { key })
    expect(response.status, `what key ${n} holds`).toBe(402)
    const fits = await gateway.respond({ model: 'm/plain', input: written(plan), max_output_tokens: 150_000, provider }, { key })
    expect(fits.status, `what key ${n} holds`).toBe(503)
  }
}

async function reported(): Promise<Sum> {
  const store = await createStore({ path: join(directory, 'signalbox.db') })
  const report = createCostReport()
  for await (const batch of store.generations.between(0, Date.now() + 86_400_000)) for (const generation of batch) report.add(generation)
  await store.close()
  return total(report.lines().map(({ usd, ownKeysUsd }) => ({ paid: usd, own: ownKeysUsd })))
}
