import { median } from './measure/statistics.ts'
import type { Sample, Scenario } from './scenarios.ts'

/** Samples by target, then scenario, in the order of the rounds; a round that failed left nothing. */
export type Samples = { readonly [target: string]: { readonly [S in Scenario]?: readonly Sample[] } }

export const YARDSTICK = 'bare-node'
const FLOOR = 'direct'

/** Median of a figure over the rounds; NaN when it was never measured. */
export function figure(samples: Samples, target: string, scenario: Scenario, name: string): number {
  return median((samples[target]?.[scenario] ?? []).map((sample) => sample[name] ?? Number.NaN))
}

/** Median over the rounds of the ratio to another target in the same round: what the machine does between rounds cancels out. */
export function ratio(samples: Samples, target: string, base: string, scenario: Scenario, name: string): number {
  const bases = samples[base]?.[scenario] ?? []
  return median((samples[target]?.[scenario] ?? []).map((sample, round) => (sample[name] ?? Number.NaN) / (bases[round]?.[name] ?? Number.NaN)))
}

/** Median over the rounds of the difference to doing without any gateway. */
export function added(samples: Samples, target: string, scenario: Scenario, name: string): number {
  const floors = samples[FLOOR]?.[scenario] ?? []
  return median((samples[target]?.[scenario] ?? []).map((sample, round) => (sample[name] ?? Number.NaN) - (floors[round]?.[name] ?? Number.NaN)))
}

interface Column {
  readonly title: string
  readonly value: (target: string) => string
}

const show = (value: number, digits = 0, unit = ''): string =>
  Number.isFinite(value) ? `${value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}${unit}` : '-'

export function renderTable(samples: Samples, titles: { readonly [target: string]: string }): string {
  const columns: readonly Column[] = [
    { title: 'same work through', value: (target) => titles[target] ?? target },
    { title: 'JSON req/CPU s', value: (target) => show(figure(samples, target, 'json', 'perCpuSecond')) },
    { title: 'x bare', value: (target) => show(ratio(samples, target, YARDSTICK, 'json', 'perCpuSecond'), 2) },
    { title: 'SSE events/CPU s', value: (target) => show(figure(samples, target, 'sse', 'perCpuSecond')) },
    { title: 'x bare', value: (target) => show(ratio(samples, target, YARDSTICK, 'sse', 'perCpuSecond'), 2) },
    { title: 'one write', value: (target) => show(figure(samples, target, 'sse-block', 'perCpuSecond')) },
    { title: 'x bare', value: (target) => show(ratio(samples, target, YARDSTICK, 'sse-block', 'perCpuSecond'), 2) },
    { title: 'p50 ms', value: (target) => show(figure(samples, target, 'latency', 'p50'), 2) },
    { title: 'added', value: (target) => (target === FLOOR ? '-' : show(added(samples, target, 'latency', 'p50'), 2)) },
    { title: 'p99 ms', value: (target) => show(figure(samples, target, 'latency', 'p99'), 2) },
    { title: 'first token ms', value: (target) => show(figure(samples, target, 'first-token', 'p50'), 2) },
    { title: 'KB/stream', value: (target) => show(figure(samples, target, 'memory', 'kbPerStream'), 1) },
    { title: 'idle MB', value: (target) => show(figure(samples, target, 'memory', 'idleMb')) },
    { title: 'ready ms', value: (target) => show(figure(samples, target, 'ready', 'ms')) },
  ]
  const rows = [columns.map(({ title }) => title), ...Object.keys(samples).map((target) => columns.map(({ value }) => value(target)))]
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)].join('\n')
}

export interface Bar {
  readonly name: string
  readonly wanted: string
  readonly measured: number
  /** Undefined when a figure it needs is missing. */
  readonly met: boolean | undefined
}

interface BarRule {
  readonly name: string
  readonly at: 'least' | 'most'
  readonly limit: number
  readonly unit: string
  readonly measure: (samples: Samples) => number
}

const OURS = 'signalbox'
const PEER = 'portkey'

const BARS: readonly BarRule[] = [
  { name: 'JSON work, of bare Node', at: 'least', limit: 0.3, unit: 'x', measure: (s) => ratio(s, OURS, YARDSTICK, 'json', 'perCpuSecond') },
  { name: 'JSON work, of Portkey', at: 'least', limit: 8, unit: 'x', measure: (s) => ratio(s, OURS, PEER, 'json', 'perCpuSecond') },
  { name: 'SSE work, of bare Node', at: 'least', limit: 0.5, unit: 'x', measure: (s) => ratio(s, OURS, YARDSTICK, 'sse', 'perCpuSecond') },
  { name: 'SSE work, of Portkey', at: 'least', limit: 3, unit: 'x', measure: (s) => ratio(s, OURS, PEER, 'sse', 'perCpuSecond') },
  { name: 'added latency, p50', at: 'most', limit: 0.6, unit: 'ms', measure: (s) => added(s, OURS, 'latency', 'p50') },
  { name: 'memory per open stream', at: 'most', limit: 60, unit: 'KB', measure: (s) => figure(s, OURS, 'memory', 'kbPerStream') },
  { name: 'ready', at: 'most', limit: 1000, unit: 'ms', measure: (s) => figure(s, OURS, 'ready', 'ms') },
]

export function judge(samples: Samples): readonly Bar[] {
  return BARS.map(({ name, at, limit, unit, measure }) => {
    const measured = measure(samples)
    const met = Number.isNaN(measured) ? undefined : at === 'least' ? measured >= limit : measured <= limit
    return { name, wanted: `at ${at} ${limit} ${unit}`, measured, met }
  })
}

export function renderBars(bars: readonly Bar[]): string {
  const word = (met: boolean | undefined): string => (met === undefined ? 'none' : met ? 'met ' : 'MISS')
  return bars.map(({ name, wanted, measured, met }) => `${word(met)}  ${name.padEnd(24)} ${show(measured, 2).padStart(9)}  (${wanted})`).join('\n')
}
