import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { computeCost } from '../src/catalog/cost.ts'
import type { ModelEvent } from '../src/core/event.ts'
import type { Pricing } from '../src/core/pricing.ts'
import type { Usage } from '../src/core/usage.ts'
import { dialects } from '../src/dialects/index.ts'
import { createSseParser } from '../src/lib/sse.ts'
import { PROVIDERS } from '../src/providers/index.ts'
import { checkWire } from '../src/testing/check-wire.ts'
import { readRecordings, recordingsFolder, recordingsRequired, type Recording } from '../src/testing/recordings.ts'
import { replayModel, startReplayServer, type ReplayServer } from '../src/testing/replay-server.ts'
import { startGateway, type TestGateway } from '../src/testing/start-gateway.ts'
import { verifies } from './requirements.ts'

/**
 * Compares costs with the vendors' own figures: if a recorded answer states its cost, the gateway reports the same; if the list price of its model is
 * known, tokens times price must give that figure, too.
 */

const FORMATS: { readonly [format: string]: string } = { chat: 'openai-chat', responses: 'openai-responses' }
const TICKS_PER_USD = 1e10

/** USD per million tokens, as listed when the answers were recorded. */
const LIST_PRICES: { readonly [model: string]: Pricing } = {
  'grok-3-mini': { input: 0.3, cacheRead: 0.075, output: 0.5 },
  'grok-4.3': { input: 1.25, cacheRead: 0.2, output: 2.5 },
  'x-ai/grok-4': { input: 3, cacheRead: 0.75, output: 15 },
  'anthropic/claude-haiku-4.5': { input: 1, output: 5 },
  'anthropic/claude-4.5-haiku-20251001': { input: 1, output: 5 },
  'anthropic/claude-4.6-sonnet-20260217': { input: 3, output: 15 },
}

type Json = { readonly [field: string]: unknown }
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** All objects named `usage` in an answer, in order, at any depth. */
function usagesOf(value: unknown): Json[] {
  if (Array.isArray(value)) return value.flatMap(usagesOf)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([field, inner]) => (field === 'usage' && isObject(inner) ? [inner] : usagesOf(inner)))
}

const payloadsOf = ({ body, contentType }: Recording): unknown[] => {
  if (contentType === 'application/json') return [JSON.parse(body.toString())]
  const payloads: unknown[] = []
  const parser = createSseParser((data) => void (data.startsWith('{') && payloads.push(JSON.parse(data))))
  parser.push(body)
  parser.end()
  return payloads
}

/** The cost that the vendor reports, in USD. Zero ticks do not mean a cost of zero: accounts that are billed elsewhere get zero. */
function vendorCost(recording: Recording): number | undefined {
  const costs = payloadsOf(recording)
    .flatMap(usagesOf)
    .flatMap((usage) => {
      const ticks = usage['cost_in_usd_ticks']
      if (typeof ticks === 'number') return ticks > 0 ? [ticks / TICKS_PER_USD] : []
      const { cost } = usage
      return typeof cost === 'number' ? [cost] : isObject(cost) && typeof cost['total_cost'] === 'number' ? [cost['total_cost']] : []
    })
  return costs.at(-1)
}

const folder = recordingsFolder()
if (folder === undefined) console.warn('SKIPPED: the recordings are not here (SIGNALBOX_FIXTURES): no cost is held against the vendors’ own')

if (folder === undefined && recordingsRequired()) {
  it('the recordings are here, as CI and SIGNALBOX_REQUIRE_FIXTURES demand', () => {
    expect.unreachable('set SIGNALBOX_FIXTURES to the folder that holds index.json')
  })
}

const priced = (format: string): { readonly recording: Recording; readonly cost: number }[] =>
  folder === undefined
    ? []
    : readRecordings(folder, format).flatMap((recording) => {
        const cost = recording.status === 200 ? vendorCost(recording) : undefined
        return cost === undefined || recording.features.some((feature) => feature.startsWith('error.in_')) ? [] : [{ recording, cost }]
      })

describe.skipIf(folder === undefined).each(Object.entries(FORMATS))(
  verifies('S5-costs', 'costs of recorded answers in the format %s'),
  (format, dialect) => {
    const answers = priced(format)
    const named = answers.map(({ recording, cost }, n) => [recording.name.replace(`${format}/`, ''), recording, cost, n] as const)
    let server: ReplayServer
    let gateway: TestGateway

    beforeAll(async () => {
      server = await startReplayServer(answers.map(({ recording }) => recording))
      gateway = await startGateway({
        providers: [...new Set(answers.map(({ recording }) => recording.provider))].map((slug) => ({
          slug,
          dialect,
          base_url: server.url,
          api_keys: ['upstream-key'],
        })),
        // Prices that nobody charges, so that a figure derived from them is recognisable as not the vendor's.
        models: answers.flatMap(({ recording }, n) =>
          (['whole', 'cut'] as const).map((how) => ({
            slug: `replay/${replayModel(n, how)}`,
            context_length: 1_000_000,
            endpoints: [{ provider: recording.provider, upstream_model: replayModel(n, how), pricing: { input: 777, output: 777 } }],
          })),
        ),
        routing: { cooldown: false, retries: false, sticky: false },
      })
    })
    afterAll(async () => {
      await gateway.close()
      await server.close()
    })

    it('there are some', () => {
      expect(answers.length).toBeGreaterThan(10)
    })

    it.each(named)('%s: the caller sees the vendor’s figure', async (_name, _recording, cost, n) => {
      const streamed = await gateway.respond({ model: `replay/${replayModel(n, 'cut')}`, input: 'Hello', stream: true })
      const { terminal } = checkWire(await streamed.text())
      const whole = (await (await gateway.respond({ model: `replay/${replayModel(n, 'whole')}`, input: 'Hello' })).json()) as Json
      for (const answer of [terminal['response'] as Json, whole]) expect((answer['usage'] as Json)['cost']).toBeCloseTo(cost, 12)
    })

    const listed = named.filter(([, recording]) => modelOf(recording) in LIST_PRICES)
    it.each(listed)('%s: tokens times list price come to the vendor’s figure', (_name, recording, cost) => {
      const { reportedCost, ...usage } = decodedUsage(recording, dialect)
      expect(reportedCost).toBeCloseTo(cost, 12)
      expect(computeCost(usage, LIST_PRICES[modelOf(recording)]!)).toMatchObject({ source: 'catalog', total: expect.closeTo(cost, 9) as number })
    })
    it('prices of several models are known', () => {
      expect(new Set(listed.map(([, recording]) => modelOf(recording))).size).toBeGreaterThanOrEqual(format === 'chat' ? 4 : 1)
    })
  },
)

const modelOf = ({ body }: Recording): string => /"model"\s*:\s*"([^"]+)"/.exec(body.toString())?.[1] ?? ''

/** The usage that the dialect reads from an answer, with the options of its vendor. */
function decodedUsage(recording: Recording, name: string): Usage {
  const dialect = dialects.get(name)!
  const provider = PROVIDERS.find(({ slug }) => slug === recording.provider)!
  const options = dialect.options.parse(provider.dialect === name ? provider.options : (provider.dialectOptions?.[name] ?? {}))
  const decoder = dialect.decoder(
    { input: [] },
    {
      provider: provider.slug,
      providerName: provider.name,
      upstreamModel: 'm',
      options,
      supports: new Set(),
      contextLength: 1_000_000,
      scope: 's',
      stream: true,
    },
  )
  const out: ModelEvent[] = []
  if (recording.contentType === 'application/json') decoder.body(recording.body.toString(), out)
  else {
    const parser = createSseParser((data, event) => decoder.push(data, event, out))
    parser.push(recording.body)
    parser.end()
  }
  if (!decoder.finished) decoder.end(out)
  const usage = out.flatMap((event) => (event.type === 'response-end' && event.usage !== undefined ? [event.usage] : [])).at(-1)
  if (usage === undefined) throw new Error(`${recording.name} has no usage`)
  return usage
}
