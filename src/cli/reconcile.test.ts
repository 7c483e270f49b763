import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Generation, GenerationAttempt } from '../core/generation.ts'
import { systemClock } from '../lib/clock.ts'
import { createStore } from '../store/index.ts'
import { sampleGeneration } from '../testing/sample-records.ts'
import { invoicesOf, periodOf, reconcile } from './reconcile.ts'

const NOW = Date.UTC(2026, 10, 25, 23)

describe('the period', () => {
  const days = (options: object): string[] => Object.values(periodOf(options, NOW)).map((ms: number) => new Date(ms).toISOString().slice(0, 16))

  it.each<[object, string, string]>([
    [{}, '2026-11-01T00:00', '2026-12-01T00:00'],
    [{ month: '2026-12' }, '2026-12-01T00:00', '2027-01-01T00:00'],
    [{ from: '2026-11-03', to: '2026-11-03' }, '2026-11-03T00:00', '2026-11-04T00:00'],
    [{ from: '2026-11-03' }, '2026-11-03T00:00', '2026-11-26T00:00'],
  ])('of %j is %s to %s', (options, from, to) => {
    expect(days(options)).toEqual([from, to])
  })

  it.each([
    [{ month: '2026-13' }, '--month 2026-13'],
    [{ month: 'november' }, '--month november'],
    [{ month: '0000-01' }, '--month 0000-01'],
    [{ month: '2026-11', from: '2026-11-01' }, '--month stands for'],
    [{ from: '2026-02-31' }, '--from 2026-02-31'],
    [{ to: '2026-11-03' }, '--to 2026-11-03 needs --from'],
    [{ from: '2026-11-26' }, '--from 2026-11-26: is after today, 2026-11-25'],
    [{ from: '2026-11-03', to: '2026-11-02' }, '--to 2026-11-02'],
  ])('of %j is refused', (options, words) => {
    expect(() => periodOf(options, NOW)).toThrow(words)
  })
})

describe('invoices', () => {
  it('are dollars of a provider', () => {
    expect([...invoicesOf(['openai=12.5', 'acme=0'])]).toEqual([
      ['openai', 12.5],
      ['acme', 0],
    ])
  })

  it.each([
    ['openai'],
    ['openai='],
    ['=5'],
    ['openai=x'],
    ['openai=-1'],
    ['openai=Infinity'],
    ['openai=1=2'],
    ['openai=0x10'],
    ['openai=1e3'],
    ['openai=1,000'],
    [' =1'],
  ])('%j is none', (text) => {
    expect(() => invoicesOf([text])).toThrow('such as openai=123.45')
  })

  it('are one for each provider', () => {
    expect(() => invoicesOf(['a=1', 'a=2'])).toThrow('given twice')
  })
})

describe('signalbox reconcile', () => {
  let folder: string
  let said: string[]
  const of = (id: string, day: string, provider: string, total: number, more: Partial<Generation> = {}): Generation =>
    sampleGeneration(id, {
      startedAt: Date.parse(`${day}T12:00:00Z`),
      provider,
      cost: { total, input: total, output: 0, cacheDiscount: 0, source: 'catalog' },
      ...more,
    })

  const part = (provider: string, costUsd: number): GenerationAttempt => ({
    provider,
    providerName: provider,
    model: 'm/1',
    upstreamModel: 'u',
    endpointId: provider,
    status: 200,
    startedAt: 0,
    costUsd,
  })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-reconcile-'))
    const store = await createStore({ path: join(folder, 'signalbox.db') })
    await store.migrate()
    await store.workspaces.default()
    const generations = [
      of('gen-1', '2026-10-31', 'acme', 100),
      of('gen-2', '2026-11-01', 'acme', 1.5),
      of('gen-3', '2026-11-30', 'acme', 0.5, { model: 'acme/large' }),
      of('gen-4', '2026-11-02', 'other', 0, { cost: { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'unknown' } }),
      of('gen-5', '2026-12-01', 'acme', 100),
      of('gen-6', '2025-06-01', 'free', 0.3, { endpointId: 'f', attempts: [part('acme', 0.1), part('other', 0.2)] }),
    ]
    await store.generations.insertMany(generations.map((generation) => ({ generation })))
    await store.close()
  })
  afterAll(() => rm(folder, { recursive: true }))
  beforeEach(() => {
    said = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  })
  afterEach(() => void vi.restoreAllMocks())

  const run = async (options: object, overrides: object = {}): Promise<string> => {
    await reconcile({ json: false, ...options }, { data: folder, ...overrides })
    return said.join('')
  }

  it('lists the cost of the calls of the period, and nothing else', async () => {
    const lines = (await run({ month: '2026-11' })).split('\n')
    expect(lines[0]).toBe('2026-11-01 to 2026-11-30 (UTC), by the records of this gateway')
    expect(lines.slice(3, 7).map((line) => line.split(/ {2,}/).filter((_, column) => [0, 1, 2, 7].includes(column)))).toEqual([
      ['acme', 'acme/large', '1', '0.500000'],
      ['acme', 'acme/small', '1', '1.500000'],
      ['acme', '(all)', '2', '2.000000'],
      ['other', 'acme/small', '1', '0.000000'],
    ])
    expect(lines.at(-2)).toBe('other: 1 of 1 calls have no known price and count as nothing')
  })

  it('shows the difference to an invoice, also for a provider without calls', async () => {
    const text = await run({ month: '2026-11', invoice: ['acme=2.2', 'other=0', 'nobody=3'] })
    expect(text).toContain('acme: invoice 2.200000 USD, 0.200000 USD more than recorded, 10.00 %\n')
    expect(text).toContain('other: invoice 0.000000 USD, as recorded\n')
    expect(text).toContain('nobody: invoice 3.000000 USD, 3.000000 USD more than recorded\n')
  })

  it('shows no negative zero where a free endpoint ended the answer of others', async () => {
    const text = await run({ month: '2025-06' })
    expect(text).toContain('0.200000')
    expect(text).not.toContain('-0.0')
  })

  it('gives the same as JSON', async () => {
    const report = JSON.parse(await run({ month: '2026-11', invoice: ['acme=1'], json: true })) as { lines: object[]; providers: object[] }
    expect(report).toMatchObject({ from: '2026-11-01', to: '2026-11-30' })
    expect(report.lines).toHaveLength(3)
    expect(report.providers).toMatchObject([{ provider: 'acme', calls: 2, usd: 2, invoice: 1, difference: -1 }, { provider: 'other' }])
  })

  it('reports that records of the period were deleted by retention', async () => {
    vi.spyOn(systemClock, 'now').mockReturnValue(NOW)
    const config = join(folder, 'signalbox.json')
    const keeping = async (generations: string, options: object): Promise<string> => {
      said = []
      await writeFile(config, JSON.stringify({ retention: { generations }, providers: [{ slug: 'openai', api_keys: ['${NOT_SET}'] }] }))
      return run({ month: '2020-01', ...options }, { config })
    }
    expect(await keeping('10d', {})).toContain('\nrecords of before 2026-11-15 go by age (retention.generations): not all of them are here')
    expect(JSON.parse(await keeping('10d', { json: true }))).toMatchObject({ keptSince: '2026-11-15' })
    expect(await keeping('forever', {})).not.toContain('by age')
    expect(await keeping('10d', { month: '9999-01' })).not.toContain('by age')
  })

  it('reports its progress on standard error, and the result alone on standard output', async () => {
    const errors: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => errors.push(String(text)) > 0)
    vi.spyOn(systemClock, 'now').mockReturnValue(Date.UTC(2026, 11, 31))
    await run({ month: '2026-11', json: true })
    expect(errors).toEqual([])
    const [short] = said
    said = []
    let ms = 0
    vi.spyOn(systemClock, 'monotonic').mockImplementation(() => (ms += 60_000))
    await run({ month: '2026-11', json: true })
    expect(said).toEqual([short])
    expect(errors.join('')).toContain('reconcile: 3 records read, up to 2026-11-30 (98 % of the period)')
  })

  it('reports a period without calls', async () => {
    expect(await run({ month: '2020-01' })).toContain('no calls')
  })
})
