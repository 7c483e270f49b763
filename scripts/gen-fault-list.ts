/**
 * Writes docs/reference/fault-list.md: the requirements under faults and attacks, with the tests that prove them, or the reason why there is none.
 *
 *   node scripts/gen-fault-list.ts            writes the page
 *   node scripts/gen-fault-list.ts --check    fails if the page differs from what would be written
 */
import { pathToFileURL } from 'node:url'
import { FAULTS, WITHOUT_TEST } from '../e2e/fault-list.ts'
import { REQUIREMENTS } from '../e2e/requirements.ts'
import { readCitations } from './citations.ts'
import { cell, publish } from './reference-page.ts'

const PAGE = 'docs/reference/fault-list.md'

const CHAPTERS: { readonly [letter: string]: string } = {
  A: 'Incoming HTTP',
  B: 'JSON and text',
  C: 'Upstreams',
  D: 'Callers',
  E: 'Addresses chosen by others',
  F: 'Keys and tenants',
  G: 'Secrets and contents',
  H: 'Money and resources',
  I: 'State and infrastructure',
  J: 'Supply chain',
  K: 'Instructions from models and pages',
  P: 'Problems reported for other gateways',
}

const HEAD = `# Faults and attacks

<!-- Written by scripts/gen-fault-list.ts; do not edit. -->

This list says what must hold when something fails or somebody attacks. Tests cite an entry with \`verifies('A4', 'its title')\`. The last table gives the reason and the plan for each entry without a test. \`npm test\` fails if an entry has neither a test nor a reason, or if it has both.
`

export function faultListPage(citations: ReadonlyMap<string, readonly string[]> = readCitations()): string {
  const known: { readonly [id: string]: string } = { ...REQUIREMENTS, ...FAULTS }
  const idsOf = (letter: string): string[] =>
    Object.keys(known)
      .filter((id) => new RegExp(`^${letter}\\d+$`).test(id))
      .sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
  const row = (id: string): string => {
    const files = (citations.get(id) ?? []).map((file) => `\`${file.replace(/\.test\.ts$/, '')}\``)
    return `| ${id} | ${cell(known[id] ?? '')} | ${WITHOUT_TEST[id] === undefined ? files.join(', ') : 'see below'} |`
  }
  const chapters = Object.entries(CHAPTERS).map(
    ([letter, title]) => `## ${letter}. ${title}\n\n| | what holds | tests |\n|---|---|---|\n${idsOf(letter).map(row).join('\n')}\n`,
  )
  const reasons = Object.entries(WITHOUT_TEST).map(([id, { why, plan }]) => `| ${id} | ${cell(why)} | ${cell(plan)} |`)
  return `${HEAD}\n${chapters.join('\n')}\n## Without a test\n\n| | why | plan |\n|---|---|---|\n${reasons.join('\n')}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) publish(PAGE, faultListPage(), import.meta.filename)
