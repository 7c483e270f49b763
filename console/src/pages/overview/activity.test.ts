import { describe, expect, it } from 'vitest'
import { byDay, isMetric, lastDays, METRICS, rank, seriesOf, sum, type ActivityRow } from './activity.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')

function row(date: string, model: string, change: Partial<ActivityRow> = {}): ActivityRow {
  return {
    date,
    model,
    provider_name: 'Acme',
    usage: 0,
    byok_usage_inference: 0,
    requests: 1,
    prompt_tokens: 0,
    completion_tokens: 0,
    ...change,
  }
}

describe('the days', () => {
  it('end today, in UTC and not in the time zone of the reader, and cross months', () => {
    expect(lastDays([], NOW, 4)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'])
    expect(lastDays([row('2026-03-01', 'a/one')], NOW, 1)).toEqual(['2026-03-02'])
  })

  it('end with the latest day that the gateway reports where the clock of the reader is behind', () => {
    expect(lastDays([row('2026-03-03', 'a/one'), row('2026-02-20', 'a/one')], NOW, 2)).toEqual(['2026-03-02', '2026-03-03'])
  })

  it('have totals, also days without calls', () => {
    const rows = [row('2026-03-01', 'a/one'), row('2026-03-01', 'a/two', { requests: 2 }), row('2026-02-01', 'a/one')]
    expect(byDay(rows, ['2026-02-28', '2026-03-01']).map(METRICS.calls.of)).toEqual([0, 3])
  })
})

it('sums keep the money of own provider keys apart from that of the gateway', () => {
  const rows = [
    row('2026-03-01', 'a/one', { usage: 0.5, prompt_tokens: 10 }),
    row('2026-03-02', 'a/one', { byok_usage_inference: 2, completion_tokens: 5 }),
  ]
  const totals = sum(rows)
  expect(totals).toEqual({ calls: 2, spent: 0.5, ownKeys: 2, tokensIn: 10, tokensOut: 5 })
  expect([METRICS.spent, METRICS.own_keys, METRICS.tokens].map(({ of }) => of(totals))).toEqual([0.5, 2, 15])
})

describe('a ranking', () => {
  const rows = [
    row('2026-03-01', 'a/busy', { requests: 8 }),
    row('2026-03-02', 'b/dear', { requests: 2, usage: 4, provider_name: 'Best' }),
    row('2026-03-02', 'b/also', { requests: 2, usage: 4, provider_name: 'Best' }),
  ]

  it('is by the metric asked for, with shares of it, and by name where that is equal', () => {
    expect(rank(rows, 'model', 'calls').map(({ name, share }) => [name, share])).toEqual([
      ['a/busy', 8 / 12],
      ['b/also', 2 / 12],
      ['b/dear', 2 / 12],
    ])
    expect(rank(rows, 'model', 'spent').map(({ name, share }) => [name, share])).toEqual([
      ['b/also', 0.5],
      ['b/dear', 0.5],
      ['a/busy', 0],
    ])
  })

  it('of providers sums up their models', () => {
    expect(rank(rows, 'provider', 'calls').map(({ name, totals }) => [name, totals.calls])).toEqual([
      ['Acme', 8],
      ['Best', 4],
    ])
  })

  it('has no shares where all figures are zero', () => {
    expect(rank(rows, 'model', 'tokens').map(({ share }) => share)).toEqual([undefined, undefined, undefined])
  })
})

describe('the series of a chart', () => {
  const days = ['2026-03-01', '2026-03-02']

  it('are the first eight and all others, the most first, with a figure for each day', () => {
    const rows = Array.from({ length: 10 }, (_, n) => row('2026-03-02', `a/m${n}`, { requests: 10 - n }))
    const series = seriesOf(rows, days, 'model', 'calls')
    expect(series.map(({ name }) => name)).toEqual(['a/m0', 'a/m1', 'a/m2', 'a/m3', 'a/m4', 'a/m5', 'a/m6', 'a/m7', 'Others (2)'])
    expect(series[0]?.values).toEqual([0, 10])
    expect(series[8]).toEqual({ name: 'Others (2)', values: [0, 3], isRest: true })
  })

  it('have none for all others if there are only eight', () => {
    const rows = Array.from({ length: 8 }, (_, n) => row('2026-03-01', `a/m${n}`))
    expect(seriesOf(rows, days, 'model', 'calls').map(({ isRest }) => isRest)).toEqual(Array.from({ length: 8 }))
  })

  it('leave out those without any figure, and earlier days', () => {
    const rows = [row('2026-03-01', 'a/free'), row('2026-03-01', 'a/paid', { usage: 1 }), row('2026-01-01', 'a/old', { usage: 9 })]
    expect(seriesOf(rows, days, 'model', 'spent')).toEqual([{ name: 'a/paid', values: [1, 0] }])
  })
})

it('metrics are found by name, and not by inherited property names', () => {
  expect(['calls', 'own_keys', 'toString', undefined].map(isMetric)).toEqual([true, true, false, false])
})
