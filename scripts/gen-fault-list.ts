/**
 * Writes docs/reference/fault-list.md: what must hold under faults and attacks, with the tests that show it, or why there is none.
 *
 *   node scripts/gen-fault-list.ts            writes the page
 *   node scripts/gen-fault-list.ts --check    fails when the page is not what would be written
 */
import { pathToFileURL } from 'node:url'
import { FAULTS, WITHOUT_TEST } from '../e2e/fault-list.ts'
import { REQUIREMENTS } from '../e2e/requirements.ts'
import { readCitations } from './citations.ts'
import { cell, publish } from './reference-page.ts'

const PAGE = 'docs/reference/fault-list.md'

const CHAPTERS: { readonly [letter: string]: string } = {
  A: 'HTTP as it comes in',
  B: 'JSON and text',
  C: 'Upstreams',
  D: 'Callers',
  E: 'Addresses chosen by others',
  F: 'Keys and tenants',
  G: 'Secrets and what was said',
  H: 'Money and resources',
  I: 'State and infrastructure',
  J: 'Supply chain',
  K: 'What models and pages are made to say',
  P: 'Pains reported of gateways',
}

const HEAD = `# Faults and attacks

<!-- Written by scripts/gen-fault-list.ts; do not edit. -->

What must hold when something goes wrong or somebody means harm, by letter and number. Tests cite a number with \`verifies('A4', 'its title')\`;
a number has a test, or its reason and plan stand in the last table. \`npm test\` fails when one has neither, and when a reason is out of date.
`

/** The page as text. */
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
