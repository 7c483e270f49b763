/**
 * Writes docs/reference/dialects.md: what each upstream format supports, with the tests that prove it, and its options.
 *
 *   node scripts/gen-dialects.ts            writes the page
 *   node scripts/gen-dialects.ts --check    fails if the page differs from what would be written, or names a test that does not exist
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { Dialect } from '../src/core/dialect.ts'
import { answerDialects, dialects } from '../src/dialects/index.ts'
import { PROVIDERS } from '../src/providers/index.ts'
import { FEATURES, NONE, PARAMETERS, type Cells, type Feature } from './dialect-cells/cell.ts'
import { CELLS } from './dialect-cells/index.ts'
import { cell, presetOf, publish, valuesOf, type Field } from './reference-page.ts'
import { findTest } from './test-titles.ts'

const ROOT = join(import.meta.dirname, '..')
const MAX_PRESET_CHARS = 60

const HEAD = `# Upstream formats

<!-- Written by scripts/gen-dialects.ts; do not edit. -->

This table shows what each dialect (the format of an upstream) can do. Every cell links to the tests that prove it. "–" means that the format lacks the feature; the tests show what happens instead.
\`anthropic-invoke\` is \`anthropic-messages\` inside Bedrock's InvokeModel and shares its cells.
`

const OPTIONS_HEAD = `## Options

\`options\` of a provider or an endpoint in \`signalbox.yaml\` say how a server differs from the format's defaults. Unknown options are errors. Built-in
providers declare theirs in their own file under \`src/providers\`.
`

const EMBEDDINGS_HEAD = `## Embeddings

These are the formats for \`POST /api/v1/embeddings\`. An embeddings model is called in the format that belongs to its provider's dialect. A server
that makes only embeddings has one of these as its \`dialect\`. \`src/testing/embeddings-contract.ts\` tests all of them.
`

const anchor = (dialect: string, feature: string): string => `${dialect}-${feature}`.replaceAll('_', '-')

export function dialectsPage(cells: { readonly [dialect: string]: Cells } = CELLS): string {
  const names = Object.keys(cells)
  const rows = (Object.keys(FEATURES) as Feature[]).map((feature) => {
    const columns = names.map((name) => `[${cells[name]![feature][0] === NONE ? '–' : cells[name]![feature][0]}](#${anchor(name, feature)})`)
    return `| ${FEATURES[feature]} | ${columns.map(cell).join(' | ')} |`
  })
  return [
    HEAD,
    `| | ${names.map((name) => `\`${name}\``).join(' | ')} |\n|---|${names.map(() => '---|').join('')}\n${rows.join('\n')}\n`,
    ...names.map((name) => testsOf(name, cells[name]!)),
    OPTIONS_HEAD,
    ...names.map((name) => optionsOf(dialects.get(name)!)),
    EMBEDDINGS_HEAD,
    ...[...dialects.values()].filter(({ answers }) => answers === 'embeddings').map(embedderOf),
  ].join('\n')
}

function testsOf(name: string, cells: Cells): string {
  const entries = (Object.keys(FEATURES) as Feature[]).flatMap((feature) => {
    const [how, ...rest] = cells[feature]
    const instead = how === NONE ? `${rest[0]}: ` : ''
    const tests = (how === NONE ? rest.slice(1) : rest).map((reference) => {
      const found = findTest(ROOT, `src/dialects/${name}`, reference)
      const title = reference.slice(reference.indexOf(': ') + 2)
      return 'file' in found ? `[${title}](../../${found.file})` : `${title} (missing)`
    })
    return `* <a id="${anchor(name, feature)}"></a>**${FEATURES[feature]}**: ${instead}${tests.join('; ')}`
  })
  return `## Tests of \`${name}\`\n\n${entries.join('\n')}\n`
}

function embedderOf(embedder: Dialect): string {
  const beside = answerDialects.filter(({ embeddings }) => embeddings === embedder.name).map(({ name }) => `\`${name}\``)
  const at = PROVIDERS.filter(
    ({ embeddings, embeddingsFor }) => embeddings === embedder.name || embeddingsFor?.some(([, dialect]) => dialect === embedder.name) === true,
  ).map(({ slug }) => `\`${slug}\``)
  const goes = [...(beside.length === 0 ? [] : [`Goes with ${beside.join(', ')}.`]), ...(at.length === 0 ? [] : [`Spoken by ${at.join(', ')}.`])]
  return `### \`${embedder.name}\`\n\n${goes.join(' ')}\n${Object.keys(fieldsOf(embedder)).length === 0 ? '' : `\n${optionsOf(embedder)}`}`
}

const fieldsOf = ({ options }: Dialect): { readonly [option: string]: Field } =>
  (z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' }) as Field).properties ?? {}

function optionsOf(dialect: Dialect): string {
  const { name } = dialect
  const rows = Object.entries(fieldsOf(dialect)).map(([option, field]) => {
    const values = valuesOf(field.enum ?? field.items?.enum)
    return `| \`${option}\` | ${cell(presetOf(field, MAX_PRESET_CHARS))} | ${cell(`${field.description ?? ''}${values}`.trim())} |`
  })
  return `### Options of \`${name}\`\n\n| option | default | |\n|---|---|---|\n${rows.join('\n')}\n`
}

/** The faults of the table: cells without tests, tests that do not exist, declared parameters that a cell denies, formats without cells. */
export function findGaps(cells: { readonly [dialect: string]: Cells } = CELLS): string[] {
  const gaps = answerDialects
    .map(({ name }) => name)
    .filter((name) => name !== 'anthropic-invoke' && cells[name] === undefined)
    .map((name) => `${name} has no cells`)
  for (const [name, own] of Object.entries(cells)) {
    for (const feature of Object.keys(FEATURES) as Feature[]) {
      const [how, ...rest] = own[feature]
      const tests = how === NONE ? rest.slice(1) : rest
      if (tests.length === 0) gaps.push(`${name}, ${feature}: names no test`)
      for (const reference of tests) {
        const found = findTest(ROOT, `src/dialects/${name}`, reference)
        if ('missing' in found) gaps.push(`${name}, ${feature}: ${found.missing}`)
      }
    }
    for (const parameter of dialects.get(name)?.supports ?? []) {
      const feature = PARAMETERS[parameter]
      if (feature !== undefined && own[feature][0] === NONE) gaps.push(`${name} declares ${parameter}, and its cell ${feature} says it lacks it`)
    }
  }
  return gaps
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const gaps = findGaps()
  for (const gap of gaps) console.log(gap)
  if (gaps.length > 0) process.exitCode = 1
  publish('docs/reference/dialects.md', dialectsPage(), import.meta.filename)
}
