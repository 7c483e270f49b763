/**
 * A vendor's name may be a string literal only in the vendor's own file and in catalog data. Elsewhere a branch on a name is a peculiarity that
 * should be a declared option.
 *
 *   node scripts/check-vendor-names.ts [ROOT]     prints one line per finding, fails if there is any
 */
import { pathToFileURL } from 'node:url'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'

interface VendorRoom {
  readonly folder: string
  /** Literals that name a vendor of this folder. */
  readonly literals: (slug: string) => readonly string[]
}

const ROOMS: readonly VendorRoom[] = [
  { folder: 'providers', literals: (slug) => [slug] },
  { folder: 'destinations', literals: (slug) => [slug] },
  // Tool names alone are ordinary words (`shell`, `files`); their names in the API are not.
  { folder: 'tools', literals: (slug) => [`gateway:${slug}`] },
]

/** Destinations that are not named after a vendor: ordinary words with other meanings elsewhere. */
const WORDS = new Set(['file', 'webhook'])

/**
 * Files in which names are data and not decisions. Other gateways' names of providers belong in the importers' `names.ts` and in none of their other
 * files. The last pattern is generated from the OpenAPI document.
 */
const DATA = [
  /^src\/importers\/[^/]+\/names\.ts$/,
  /^src\/catalog\/(?:data|builtin)\b/,
  /\.test\.ts$/,
  /^src\/testing\//,
  /\/__fixtures__\//,
  /^console\/src\/api\/schema\.ts$/,
]

/** Words of the public contract that are also a vendor's slug: file, literal, reason. */
const ALLOWED: readonly { readonly file: RegExp; readonly literal: RegExp; readonly why: string }[] = [
  { file: /^src\/doors\//, literal: /^(?:perplexity|parallel|exa|firecrawl|native)$/, why: 'search engines the request schema lets a caller choose' },
  { file: /^src\/tools\/search-engines\/perplexity\.ts$/, literal: /^perplexity$/, why: 'the vendor’s search service, apart from its models' },
  {
    file: /^src\/dialects\/anthropic-messages\/server-tools\.ts$/,
    literal: /^gateway:mcp$/,
    why: 'the contract’s item for calls of MCP servers, the vendor’s own included',
  },
  {
    file: /^src\/doors\/messages\/native-tools\.ts$/,
    literal: /^gateway:advisor$/,
    why: 'a tool the contract has under a second name in this format',
  },
]

/** Properties of a vendor's declaration that refer to another vendor by name: its price list, the author of its models. */
const DECLARED_PROPERTIES = new Set(['priceProvider', 'author'])

export interface Finding {
  readonly file: string
  readonly line: number
  readonly literal: string
  readonly owner: string
}

/** For each literal that names a vendor, the folder and file (or folder) that may contain it. */
function vendorLiterals(root: string): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>()
  for (const { folder, literals } of ROOMS) {
    const base = join(root, 'src', folder)
    if (!existsSync(base)) continue
    for (const entry of globSync('{*.ts,*/index.ts}', { cwd: base })) {
      const slug = entry.endsWith('/index.ts') ? entry.slice(0, -'/index.ts'.length) : basename(entry, '.ts')
      if (slug === 'index' || slug === 'shared' || slug.endsWith('.test') || WORDS.has(slug)) continue
      for (const literal of literals(slug)) owners.set(literal, [...(owners.get(literal) ?? []), `src/${folder}/${slug}`])
    }
  }
  return owners
}

function literalsOf(file: string, text: string): readonly { readonly text: string; readonly line: number }[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false)
  const isVendorFile = file.startsWith('src/providers/')
  const found: { text: string; line: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    if (isVendorFile && ts.isPropertyAssignment(node) && DECLARED_PROPERTIES.has(node.name.getText(source))) return
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      found.push({ text: node.text, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Every vendor literal in the sources, including the console, outside the vendor's own file. */
export function findVendorNames(root: string): readonly Finding[] {
  const owners = vendorLiterals(root)
  const quoted = new RegExp(`(['"\`])(?:${[...owners.keys()].map((name) => name.replace(/\W/g, '\\$&')).join('|')})\\1`)
  // Most files contain no such name and need not be parsed. Escapes could hide one, so files with escapes are parsed.
  const maySay = (source: string): boolean => /\\[ux]/.test(source) || quoted.test(source.replace(/\\(?:\r?\n)?/g, ''))
  const findings: Finding[] = []
  for (const file of globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}'], { cwd: root }).sort()) {
    if (DATA.some((pattern) => pattern.test(file))) continue
    const source = readFileSync(join(root, file), 'utf8')
    if (!maySay(source)) continue
    for (const { text, line } of literalsOf(file, source)) {
      const homes = owners.get(text)
      if (homes === undefined || homes.some((home) => file === `${home}.ts` || file.startsWith(`${home}/`))) continue
      if (ALLOWED.some((rule) => rule.file.test(file) && rule.literal.test(text))) continue
      findings.push({ file, line, literal: text, owner: homes.join(', ') })
    }
  }
  return findings
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const findings = findVendorNames(process.argv[2] ?? join(import.meta.dirname, '..'))
  for (const { file, line, literal, owner } of findings)
    console.log(`${file}:${line}: '${literal}' belongs to ${owner}: declare an option there instead of asking for the name here`)
  process.exitCode = findings.length > 0 ? 1 : 0
}
