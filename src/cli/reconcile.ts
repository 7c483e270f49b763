import { z } from 'zod'
import { createCostReport, emptyLine, type CostLine } from '../accounts/cost-report.ts'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/error.ts'
import { roundedRest, roundUsd } from '../core/cost.ts'
import { systemClock } from '../lib/clock.ts'
import { migrateExisting, openExistingStore } from '../wiring/boot.ts'
import type { Overrides } from './overrides.ts'
import type { ReconcileOptions } from './program.ts'
import { createProgress } from './progress.ts'
import { storeOptions } from './serve.ts'
import { table } from './table.ts'

const DAY_MS = 86_400_000

/** `signalbox reconcile`: what the records of a month (or of some days) say that each provider is owed, and how far an invoice is from that. */
export async function reconcile(options: ReconcileOptions, overrides: Overrides): Promise<void> {
  const days = periodOf(options, systemClock.now())
  const invoices = invoicesOf(options.invoice ?? [])
  const report = createCostReport()
  const config = await loadConfig(storeOptions(overrides, ['retention']))
  const keptSince = systemClock.now() - config.retention.generationsMs
  const store = await openExistingStore(config)
  const progress = createProgress({ stream: process.stderr, clock: systemClock })
  try {
    await migrateExisting(store)
    const end = Math.min(days.to, systemClock.now())
    let records = 0
    for await (const batch of store.generations.between(days.from, days.to)) {
      for (const generation of batch) report.add(generation)
      records += batch.length
      const at = batch.at(-1)?.startedAt ?? end
      progress.show(() => `reconcile: ${records} records read, up to ${date(at)} (${shareOf(days.from, at, end)} % of the period)`)
    }
  } finally {
    progress.end()
    await store.close()
  }
  const lines = report.lines()
  const period = keptSince > days.from ? { ...days, keptSince } : days
  process.stdout.write(options.json ? `${JSON.stringify(asJson(period, lines, invoices), undefined, 2)}\n` : inWords(period, lines, invoices))
}

/** In whole percent. */
const shareOf = (from: number, at: number, end: number): number =>
  end <= from ? 100 : Math.min(100, Math.max(0, Math.floor(((at - from) / (end - from)) * 100)))

/** Milliseconds since the epoch; `to` is no part of it. */
interface Period {
  readonly from: number
  readonly to: number
  /** Older records have been or may be deleted by retention; absent if the period begins later. */
  readonly keptSince?: number
}

const day = z.iso.date().transform((text) => Date.parse(text))
const month = z.string().regex(/^[1-9]\d{3}-(0[1-9]|1[0-2])$/)

/** Days and months of UTC, as invoices of providers count them. `--to` is the last day of the period. */
export function periodOf({ month: named, from, to }: Pick<ReconcileOptions, 'month' | 'from' | 'to'>, now: number): Period {
  const refuse = (what: string): never => {
    throw new GatewayError('invalid_request', what)
  }
  if (from === undefined && to === undefined) {
    const { data } = month.safeParse(named ?? new Date(now).toISOString().slice(0, 7))
    if (data === undefined) return refuse(`--month ${named}: a month such as 2026-11 is expected`)
    const [year = 0, number = 0] = data.split('-').map(Number)
    return { from: Date.UTC(year, number - 1), to: Date.UTC(year, number) }
  }
  if (named !== undefined) return refuse('--month stands for --from and --to: give one or the other')
  if (from === undefined) return refuse(`--to ${to} needs --from, the first day of the period`)
  const today = date(now)
  const [first, last] = [day.safeParse(from), day.safeParse(to ?? today)]
  if (!first.success) return refuse(`--from ${from}: a day such as 2026-11-01 is expected`)
  if (to === undefined && first.data > now) return refuse(`--from ${from}: is after today, ${today} in UTC; give --to as well for days to come`)
  if (!last.success || last.data < first.data) return refuse(`--to ${to}: a day such as 2026-11-30 is expected, not before --from`)
  return { from: first.data, to: last.data + DAY_MS }
}

/** Digits as on an invoice, without thousands separators, which would be read as another sum. */
const INVOICE = /^([^=\s]+)=(\d+\.?\d*|\.\d+)$/

/** `provider=USD`, each provider once. */
export function invoicesOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const invoices = new Map<string, number>()
  for (const text of texts) {
    const [, provider, amount] = INVOICE.exec(text) ?? []
    const usd = Number(amount)
    if (provider === undefined || !Number.isFinite(usd))
      throw new GatewayError('invalid_request', `--invoice ${text}: the slug of a provider and US dollars are expected, such as openai=123.45`)
    if (invoices.has(provider)) throw new GatewayError('invalid_request', `--invoice ${provider} is given twice`)
    invoices.set(provider, usd)
  }
  return invoices
}

type Sums = Omit<CostLine, 'model'>

/** By provider, including those that have an invoice and no record. */
function totals(lines: readonly CostLine[], invoices: ReadonlyMap<string, number>): readonly Sums[] {
  const sums = new Map<string, { -readonly [K in keyof Sums]: Sums[K] }>()
  for (const { model: _, ...line } of lines) {
    const sum = sums.get(line.provider)
    if (sum === undefined) sums.set(line.provider, { ...line })
    else for (const [name, value] of Object.entries(line)) if (typeof value === 'number') (sum as unknown as Record<string, number>)[name]! += value
  }
  for (const provider of invoices.keys()) {
    const { model: _, ...nothing } = emptyLine(provider, '')
    if (!sums.has(provider)) sums.set(provider, nothing)
  }
  return [...sums.values()]
}

const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

function asJson({ from, to, keptSince }: Period, lines: readonly CostLine[], invoices: ReadonlyMap<string, number>): object {
  const shown = <T extends Sums>(line: T): T => ({
    ...line,
    usd: roundUsd(line.usd),
    ownKeysUsd: roundUsd(line.ownKeysUsd),
    extrasUsd: roundUsd(line.extrasUsd),
    estimatedUsd: roundUsd(line.estimatedUsd),
  })
  return {
    from: date(from),
    to: date(to - DAY_MS),
    ...(keptSince === undefined ? {} : { keptSince: date(keptSince) }),
    lines: lines.map(shown),
    providers: totals(lines, invoices).map((sum) => {
      const invoice = invoices.get(sum.provider)
      return { ...shown(sum), ...(invoice === undefined ? {} : { invoice, difference: roundedRest(invoice, sum.usd) }) }
    }),
  }
}

const HEAD = ['PROVIDER', 'MODEL', 'CALLS', 'INPUT', 'CACHED', 'OUTPUT', 'REASONING', 'USD', 'OWN KEYS', 'EXTRAS']
const NUMBERS = new Set([2, 3, 4, 5, 6, 7, 8, 9])

/** Rounding may leave a difference of sums a hair below zero, which must not print as "-0". */
const usd = (amount: number): string => (roundUsd(amount) + 0).toFixed(6)
const count = (number: number): string => String(number)

function inWords({ from, to, keptSince }: Period, lines: readonly CostLine[], invoices: ReadonlyMap<string, number>): string {
  const row = (sums: Sums, model: string): readonly string[] => [
    sums.provider,
    model,
    ...[sums.calls, sums.inputTokens, sums.cachedTokens, sums.outputTokens, sums.reasoningTokens].map(count),
    ...[sums.usd, sums.ownKeysUsd, sums.extrasUsd].map(usd),
  ]
  const sums = totals(lines, invoices)
  const rows = sums.flatMap((sum) => {
    const own = lines.filter(({ provider }) => provider === sum.provider)
    return [...own.map((line) => row(line, line.model)), ...(own.length === 1 ? [] : [row(sum, '(all)')])]
  })
  const body = rows.length === 0 ? 'no calls\n' : table([HEAD, ...rows], NUMBERS)
  const incomplete = `records of before ${date(keptSince ?? from)} go by age (retention.generations): not all of them are here, and the sums are too small`
  const remarks = [...(keptSince === undefined ? [] : [incomplete]), ...sums.flatMap((sum) => remarksOn(sum, invoices.get(sum.provider)))]
  return `${date(from)} to ${date(to - DAY_MS)} (UTC), by the records of this gateway\n\n${body}${remarks.length === 0 ? '' : `\n${remarks.join('\n')}\n`}`
}

/** How the invoice compares with the records, and which of the recorded figures are uncertain. */
function remarksOn(sum: Sums, invoice: number | undefined): readonly string[] {
  const { provider, calls, reported, unpriced, estimated, estimatedUsd, broken, extrasUsd } = sum
  const doubts = [
    ...(unpriced === 0 ? [] : [`${unpriced} of ${calls} calls have no known price and count as nothing`]),
    ...(estimated === 0 ? [] : [`${estimated} of ${calls} calls have estimated tokens, ${usd(estimatedUsd)} USD of it`]),
    ...(broken === 0 ? [] : [`${broken} attempts broke after they had begun, and another endpoint ended the call: they may have been charged here`]),
    ...(extrasUsd === 0 ? [] : [`${usd(extrasUsd)} USD are tools, plugins and items by the request, which others may have charged`]),
    ...(reported === 0 ? [] : [`${reported} of ${calls} calls cost what the provider itself has said`]),
  ]
  const remarks = doubts.map((doubt) => `${provider}: ${doubt}`)
  if (invoice === undefined) return remarks
  const difference = invoice - sum.usd
  const share = sum.usd > 0 ? `, ${((difference / sum.usd) * 100).toFixed(2)} %` : ''
  const comparison =
    Math.abs(difference) < 0.000_000_5 ? 'as recorded' : `${usd(Math.abs(difference))} USD ${difference > 0 ? 'more' : 'less'} than recorded${share}`
  return [`${provider}: invoice ${usd(invoice)} USD, ${comparison}`, ...remarks]
}
