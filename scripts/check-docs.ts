/**
 * Checks the documents: every dependency is explained, every decision is complete, every relative link and its heading exist, docs/README.md
 * lists every guide and reference page, and ARCHITECTURE.md is short. Prints one line per finding and fails if there is any.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const ARCHITECTURE_MAX_LINES = 200
const DECISION_HEADINGS = ['## Context', '## Decision', '## Consequences']

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const findings: string[] = []

interface Manifest {
  readonly dependencies?: { readonly [name: string]: string }
  readonly devDependencies?: { readonly [name: string]: string }
}

function checkDependencies(): void {
  const page = read('docs/dependencies.md')
  const documented = new Set([...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]))
  const installed = new Set<string | undefined>()
  for (const manifest of ['package.json', 'bench/package.json']) {
    if (!existsSync(join(ROOT, manifest))) continue
    const { dependencies, devDependencies } = JSON.parse(read(manifest)) as Manifest
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      installed.add(name)
      if (!documented.has(name)) findings.push(`docs/dependencies.md: no line for \`${name}\` of ${manifest}`)
      if (!/^(npm:@?[^@]+@)?\d/.test(version)) findings.push(`${manifest}: ${name} is "${version}", not an exact version`)
    }
  }
  for (const name of documented) if (!installed.has(name)) findings.push(`docs/dependencies.md: \`${name ?? ''}\` is no dependency any more`)
}

function checkDecisions(): void {
  const files = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT }).sort()
  const numbers = new Set<string>()
  for (const file of files) {
    const number = file.slice('docs/decisions/'.length, 'docs/decisions/'.length + 4)
    if (!/^docs\/decisions\/\d{4}-[a-z0-9-]+\.md$/.test(file)) findings.push(`${file}: decisions are named 0000-short-title.md`)
    if (numbers.has(number)) findings.push(`${file}: number ${number} is taken`)
    numbers.add(number)
    const text = read(file)
    for (const heading of DECISION_HEADINGS) if (!text.includes(`\n${heading}\n`)) findings.push(`${file}: no "${heading}"`)
    if (!/^Date: (\d{4}-\d{2}-\d{2}|YYYY-MM-DD)$/m.test(text)) findings.push(`${file}: no "Date: YYYY-MM-DD" line`)
  }
}

const proseOf = (page: string): string => read(page).replace(/```[\s\S]*?```/g, '')

/** The anchors of headings as GitHub makes them; generated pages have explicit ones in addition. */
function anchorsOf(page: string): ReadonlySet<string> {
  const prose = proseOf(page)
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, ''))
  return new Set([...headings.map((heading) => heading.replaceAll(' ', '-')), ...[...prose.matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id)])
}

function checkLinks(): void {
  const pages = globSync(['*.md', 'docs/**/*.md', 'bench/*.md', 'examples/**/*.md'], { cwd: ROOT })
  const listed = new Set<string>()
  for (const page of pages) {
    for (const [, target = ''] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page : normalize(join(dirname(page), file))
      if (page === 'docs/README.md') listed.add(path)
      if (!existsSync(join(ROOT, path))) findings.push(`${page}: dead link ${target}`)
      else if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor))
        findings.push(`${page}: no heading for the link ${target}`)
    }
  }
  for (const page of pages)
    if (/^docs\/(guides|reference)\//.test(page) && !listed.has(page)) findings.push(`${page}: docs/README.md does not list it`)
}

function checkArchitecture(): void {
  const lines = read('ARCHITECTURE.md').split('\n').length - 1
  if (lines > ARCHITECTURE_MAX_LINES) findings.push(`ARCHITECTURE.md: ${lines} lines, at most ${ARCHITECTURE_MAX_LINES}`)
}

checkDependencies()
checkDecisions()
checkLinks()
checkArchitecture()
for (const finding of findings) console.log(finding)
process.exitCode = findings.length > 0 ? 1 : 0
