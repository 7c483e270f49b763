import { median } from './measure/statistics.ts'
import type { Sample, Scenario } from './scenarios.ts'

/** Samples by target, then scenario, in the order of the rounds; a failed round has an empty sample. */
export type Samples = { readonly [target: string]: { readonly [S in Scenario]?: readonly Sample[] } }

export const YARDSTICK = 'bare-node'
const FLOOR = 'direct'

/** Median of a figure over the rounds; NaN if it was never measured. */
export function figure(samples: Samples, target: string, scenario: Scenario, name: string): number {
  return median((samples[target]?.[scenario] ?? []).map((sample) => sample[name] ?? Number.NaN))
}

/** Median over the rounds of the ratio to another target in the same round, which cancels out changes of the machine between rounds. */
export function ratio(samples: Samples, target: string, base: string, scenario: Scenario, name: string): number {
  const bases = samples[base]?.[scenario] ?? []
  return median((samples[target]?.[scenario] ?? []).map((sample, round) => (sample[name] ?? Number.NaN) / (bases[round]?.[name] ?? Number.NaN)))
}

/** Median over the rounds of the difference to calling without any gateway. */
export function added(samples: Samples, target: string, scenario: Scenario, name: string): number {
  const floors = samples[FLOOR]?.[scenario] ?? []
  return median((samples[target]?.[scenario] ?? []).map((sample, round) => (sample[name] ?? Number.NaN) - (floors[round]?.[name] ?? Number.NaN)))
}

interface Column {
  readonly title: string
  readonly value: (samples: Samples, target: string, titles: { readonly [target: string]: string }) => string
}

const show = (value: number, digits = 0, unit = ''): string =>
  Number.isFinite(value) ? `${value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}${unit}` : '-'

const first: Column = { title: 'same work through', value: (_samples, target, titles) => titles[target] ?? target }

function work(scenario: Scenario, title: string): readonly Column[] {
  return [
    { title, value: (samples, target) => show(figure(samples, target, scenario, 'perCpuSecond')) },
    { title: 'x bare', value: (samples, target) => show(ratio(samples, target, YARDSTICK, scenario, 'perCpuSecond'), 2) },
  ]
}

function above(scenario: Scenario, title: string): Column {
  return { title, value: (samples, target) => (target === FLOOR ? '-' : show(added(samples, target, scenario, 'p50'), 2)) }
}

function plain(scenario: Scenario, name: string, title: string, digits = 0): Column {
  return { title, value: (samples, target) => show(figure(samples, target, scenario, name), digits) }
}

/** Each with the scenarios it needs: a table without any figure is left out. */
const TABLES: readonly { readonly needs: readonly Scenario[]; readonly columns: readonly Column[] }[] = [
  {
    needs: ['json', 'sse', 'sse-block', 'latency', 'latency-rested', 'front-door', 'first-token', 'memory', 'ready'],
    columns: [
      first,
      ...work('json', 'JSON req/CPU s'),
      ...work('sse', 'SSE events/CPU s'),
      ...work('sse-block', 'one write'),
      plain('latency', 'p50', 'p50 ms', 2),
      above('latency', 'added'),
      plain('latency', 'p99', 'p99 ms', 2),
      plain('latency-rested', 'p50', 'rested p50', 2),
      plain('latency-rested', 'p99', 'p99', 2),
      plain('front-door', 'perSecond', 'front door req/s'),
      plain('first-token', 'p50', 'first token ms', 2),
      plain('memory', 'kbPerStream', 'KB/stream', 1),
      plain('memory', 'idleMb', 'idle MB'),
      plain('ready', 'ms', 'ready ms'),
    ],
  },
  {
    needs: ['32k', '400k', '1m', 'memory-5000'],
    columns: [
      first,
      ...(['32k', '400k', '1m'] as const).flatMap((size) => [
        plain(size, 'p50', `${size} p50 ms`, 2),
        above(size, 'added'),
        plain(size, 'cpuMs', 'CPU ms', 2),
      ]),
      plain('memory-5000', 'kbPerStream', 'KB/stream at 5,000', 1),
      { title: 'x bare', value: (samples, target) => show(ratio(samples, target, YARDSTICK, 'memory-5000', 'kbPerStream'), 2) },
    ],
  },
  {
    needs: ['workers'],
    columns: [
      first,
      plain('workers', 'one', 'one process req/s'),
      plain('workers', 'perSecond', 'two req/s'),
      plain('workers', 'ofOne', 'x one', 2),
      plain('workers', 'perCpuSecond', 'two, req/CPU s'),
      plain('workers', 'loadCores', 'cores for load and upstream', 2),
    ],
  },
]

/** The tables that have figures, with a row for each target. */
export function renderTable(samples: Samples, titles: { readonly [target: string]: string }): string {
  const measured = new Set(Object.values(samples).flatMap((target) => Object.keys(target)))
  return TABLES.filter(({ needs }) => needs.some((scenario) => measured.has(scenario)))
    .map(({ columns }) => renderRows(columns, samples, titles))
    .join('\n\n')
}

function renderRows(columns: readonly Column[], samples: Samples, titles: { readonly [target: string]: string }): string {
  const rows = [
    columns.map(({ title }) => title),
    ...Object.keys(samples).map((target) => columns.map(({ value }) => value(samples, target, titles))),
  ]
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
  /** Undefined if a figure that it needs is missing. */
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
const FORWARDING = 'signalbox-otlp'
const PEER = 'portkey'

const BARS: readonly BarRule[] = [
  { name: 'JSON work, of bare Node', at: 'least', limit: 0.42, unit: 'x', measure: (s) => ratio(s, OURS, YARDSTICK, 'json', 'perCpuSecond') },
  { name: 'JSON work, of Portkey', at: 'least', limit: 12, unit: 'x', measure: (s) => ratio(s, OURS, PEER, 'json', 'perCpuSecond') },
  { name: 'SSE work, of bare Node', at: 'least', limit: 0.8, unit: 'x', measure: (s) => ratio(s, OURS, YARDSTICK, 'sse', 'perCpuSecond') },
  { name: 'SSE work, of Portkey', at: 'least', limit: 5, unit: 'x', measure: (s) => ratio(s, OURS, PEER, 'sse', 'perCpuSecond') },
  { name: 'added latency, p50', at: 'most', limit: 0.45, unit: 'ms', measure: (s) => added(s, OURS, 'latency', 'p50') },
  { name: 'memory per open stream', at: 'most', limit: 60, unit: 'KB', measure: (s) => figure(s, OURS, 'memory', 'kbPerStream') },
  {
    name: 'work with a destination',
    at: 'least',
    limit: 0.9,
    unit: 'x of ours without',
    measure: (s) => ratio(s, FORWARDING, OURS, 'json', 'perCpuSecond'),
  },
  {
    name: 'front door with a destination',
    at: 'least',
    limit: 0.9,
    unit: 'x of ours without',
    measure: (s) => ratio(s, FORWARDING, OURS, 'front-door', 'perSecond'),
  },
  { name: 'two workers', at: 'least', limit: 1.7, unit: 'x one', measure: (s) => figure(s, OURS, 'workers', 'ofOne') },
  { name: '1 MB body, added', at: 'most', limit: 15, unit: 'ms', measure: (s) => added(s, OURS, '1m', 'p50') },
  { name: '5,000 streams, of bare Node', at: 'most', limit: 1.5, unit: 'x', measure: (s) => ratio(s, OURS, YARDSTICK, 'memory-5000', 'kbPerStream') },
  { name: 'resident memory, idle', at: 'most', limit: 130, unit: 'MB', measure: (s) => figure(s, OURS, 'memory', 'idleMb') },
  { name: 'p99, of Portkey', at: 'most', limit: 1 / 3, unit: 'x', measure: (s) => ratio(s, OURS, PEER, 'latency', 'p99') },
  { name: 'ready', at: 'most', limit: 600, unit: 'ms', measure: (s) => figure(s, OURS, 'ready', 'ms') },
]

export function judge(samples: Samples): readonly Bar[] {
  return BARS.map(({ name, at, limit, unit, measure }) => {
    const measured = measure(samples)
    const met = Number.isNaN(measured) ? undefined : at === 'least' ? measured >= limit : measured <= limit
    return { name, wanted: `at ${at} ${show(limit, Number.isInteger(limit) ? 0 : 2)} ${unit}`, measured, met }
  })
}

export function renderBars(bars: readonly Bar[]): string {
  const word = (met: boolean | undefined): string => (met === undefined ? 'none' : met ? 'met ' : 'MISS')
  return bars.map(({ name, wanted, measured, met }) => `${word(met)}  ${name.padEnd(30)} ${show(measured, 2).padStart(9)}  (${wanted})`).join('\n')
}

/** The other revision in a comparison of two. */
export const BASE = 'base'

export interface Change {
  readonly name: string
  /** The improvement (above 0) or deterioration, as a share of the base's figure. */
  readonly change: number
  readonly worse: boolean
}

const COMPARED: readonly { readonly scenario: Scenario; readonly figure: string; readonly better: 'more' | 'less' }[] = [
  { scenario: 'json', figure: 'perCpuSecond', better: 'more' },
  { scenario: 'sse', figure: 'perCpuSecond', better: 'more' },
  { scenario: 'sse-block', figure: 'perCpuSecond', better: 'more' },
  { scenario: 'latency', figure: 'p50', better: 'less' },
  { scenario: 'first-token', figure: 'p50', better: 'less' },
  { scenario: '32k', figure: 'cpuMs', better: 'less' },
  { scenario: '400k', figure: 'cpuMs', better: 'less' },
  { scenario: '1m', figure: 'cpuMs', better: 'less' },
  { scenario: 'memory', figure: 'kbPerStream', better: 'less' },
  { scenario: 'ready', figure: 'ms', better: 'less' },
]

/** The changes relative to the base, by the median of the ratios within rounds; figures that were not measured are left out. */
export function compare(samples: Samples, tolerance: number): readonly Change[] {
  return COMPARED.flatMap(({ scenario, figure: name, better }) => {
    const factor = ratio(samples, OURS, BASE, scenario, name)
    if (Number.isNaN(factor)) return []
    const change = better === 'more' ? factor - 1 : 1 - factor
    return [{ name: `${scenario}: ${name}`, change, worse: change < -tolerance }]
  })
}
