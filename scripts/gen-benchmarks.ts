/**
 * Writes docs/reference/benchmarks.md from the raw samples next to it.
 *
 *   npm run bench -- --out docs/reference/benchmarks.json
 *   node scripts/gen-benchmarks.ts            writes the page
 *   node scripts/gen-benchmarks.ts --check    fails if the page differs from what would be written
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { judge, renderTable, type Samples } from '../bench/report.ts'
import { publish } from './reference-page.ts'

interface Run {
  readonly at: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly kernel: string; readonly node: string; readonly peerNode: string }
  readonly effort: { readonly rounds: number; readonly loadMs: number; readonly openStreams: number; readonly manyStreams: number }
  readonly titles: { readonly [target: string]: string }
  readonly notes: readonly string[]
  readonly samples: Samples
}

const round = (value: number): string => (Number.isFinite(value) ? String(Number(value.toPrecision(3))) : 'not measured')

/** Some programs answer errors with whole HTML pages. */
const plain = (note: string): string =>
  note
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

function page({ at, machine, effort, titles, notes, samples }: Run): string {
  const bars = judge(samples).map(({ name, wanted, measured, met }) => {
    const verdict = met === undefined ? '–' : met ? 'met' : '**missed**'
    return `| ${name} | ${wanted} | ${round(measured)} | ${verdict} |`
  })
  return [
    '# Benchmarks',
    '<!-- Written by scripts/gen-benchmarks.ts from benchmarks.json; do not edit. -->',
    `Measured ${at.slice(0, 10)} on ${machine.cores} cores (${machine.cpu}, Linux ${machine.kernel}), Node ${machine.node}, peers on Node ${machine.peerNode}: ` +
      `${effort.rounds} interleaved rounds, medians, ${effort.loadMs / 1000} s of load each. See ` +
      '[bench/README.md](../../bench/README.md) for what each column means and how answers are checked. Figures differ between machines; ratios within a run are easier to compare.',
    '```\nnpm run bench -- --out docs/reference/benchmarks.json && node scripts/gen-benchmarks.ts\n```',
    renderTable(samples, titles),
    '## Bars',
    `What we aim for.\n\n| | wanted | measured | |\n|---|---|---:|---|\n${bars.join('\n')}`,
    ...(notes.length === 0 ? [] : [`## Notes of the run\n\n${notes.map((note) => `* ${plain(note)}`).join('\n')}`]),
    '[The guide to speed](../guides/speed.md) explains the figures and what would change them.',
  ].join('\n\n')
}

const raw = JSON.parse(readFileSync(join(import.meta.dirname, '../docs/reference/benchmarks.json'), 'utf8')) as Run
publish('docs/reference/benchmarks.md', `${page(raw)}\n`, import.meta.filename)
