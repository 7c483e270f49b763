import { describe, expect, it } from 'vitest'
import { added, compare, figure, judge, ratio, renderTable, type Samples } from './report.ts'

const samples: Samples = {
  direct: { latency: [{ p50: 0.1 }, { p50: 0.2 }, { p50: 0.3 }] },
  'bare-node': { json: [{ perCpuSecond: 100 }, { perCpuSecond: 200 }, { perCpuSecond: 400 }], latency: [{ p50: 0.2 }] },
  signalbox: {
    json: [{ perCpuSecond: 50 }, { perCpuSecond: 90 }, { perCpuSecond: 100 }],
    latency: [{ p50: 0.4 }, { p50: 0.6 }, { p50: 1 }],
    ready: [{ ms: 1200 }],
  },
}

describe('bench report', () => {
  it('takes medians over rounds, and ratios and differences within a round', () => {
    expect(figure(samples, 'signalbox', 'json', 'perCpuSecond')).toBe(90)
    expect(ratio(samples, 'signalbox', 'bare-node', 'json', 'perCpuSecond')).toBe(0.45)
    expect(added(samples, 'signalbox', 'latency', 'p50')).toBeCloseTo(0.4)
  })

  it('says of each target whether it is met, and nothing of those without figures', () => {
    const met = new Map(judge(samples).map((bar) => [bar.name, bar.met]))
    expect(met.get('JSON work, of bare Node')).toBe(true)
    expect(met.get('added latency, p50')).toBe(true)
    expect(met.get('ready')).toBe(false)
    expect(met.get('JSON work, of Portkey')).toBeUndefined()
  })

  it('prints one row per target and a dash for what was not measured', () => {
    const lines = renderTable(samples, { direct: 'nothing' }).split('\n')
    expect(lines).toHaveLength(5)
    expect(new Set(lines.map((line) => line.length)).size).toBe(1)
    expect(lines[2]).toMatch(/^\| nothing +\| +- \|/)
    expect(lines[4]).toContain('0.45')
  })

  it('shows the throughput of two processes relative to one, and what the load generator took of their cores', () => {
    const two: Samples = { signalbox: { workers: [{ one: 100, perSecond: 180, ofOne: 1.8, perCpuSecond: 95, loadCores: 0.25 }] } }
    expect(renderTable(two, {})).toMatch(/signalbox +\| +100 \| +180 \| +1\.80 \| +95 \| +0\.25 \|$/)
    expect(judge(two).find(({ name }) => name === 'two workers')?.met).toBe(true)
  })

  it('leaves out a table nothing was measured for', () => {
    expect(renderTable(samples, {})).not.toContain('400k')
    expect(renderTable({ direct: { '400k': [{ p50: 2 }] } }, {})).toMatch(/^\| same work through \| +32k p50 ms/)
  })

  it('compares two revisions round by round, whichever way is better', () => {
    const two: Samples = {
      base: { json: [{ perCpuSecond: 100 }, { perCpuSecond: 200 }], latency: [{ p50: 1 }], memory: [{ kbPerStream: 50 }] },
      signalbox: { json: [{ perCpuSecond: 95 }, { perCpuSecond: 190 }], latency: [{ p50: 1.2 }], memory: [{ kbPerStream: 40 }] },
    }
    expect(compare(two, 0.1).map(({ name, change, worse }) => [name, Math.round(change * 100), worse])).toEqual([
      ['json: perCpuSecond', -5, false],
      ['latency: p50', -20, true],
      ['memory: kbPerStream', 20, false],
    ])
  })
})
