/**
 * A vendor's name as a string literal stands only in its own file and in catalog data: a branch on a name elsewhere is a quirk that
 * should have been a declared option.
 *
 *   node scripts/check-vendor-names.ts [ROOT]     prints one line per finding, fails when there is any
 */
import { pathToFileURL } from 'node:url'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'

interface VendorRoom {
  readonly folder: string
  /** Literals that mean a vendor of this room. */
  readonly literals: (slug: string) => readonly string[]
}

const ROOMS: readonly VendorRoom[] = [
  { folder: 'providers', literals: (slug) => [slug] },
  { folder: 'destinations', literals: (slug) => [slug] },
  // Bare tool names are ordinary words (`shell`, `files`); their wire spelling is not.
  { folder: 'tools', literals: (slug) => [`gateway:${slug}`] },
]

/** Destinations named after no vendor: ordinary words with meanings of their own elsewhere. */
const WORDS = new Set(['file', 'webhook'])

/**
 * Files where names are data, not decisions: what another gateway calls a provider is told in the `names.ts` of its importer, and nowhere else there;
 * the last is written from the document of the API.
 */
const DATA = [
  /^src\/importers\/[^/]+\/names\.ts$/,
  /^src\/catalog\/(?:data|builtin)\b/,
  /\.test\.ts$/,
  /^src\/testing\//,
  /\/__fixtures__\//,
  /^console\/src\/api\/schema\.ts$/,
]

/** Words of the public contract that happen to be a vendor's slug too: file, literal, why. */
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

/** Properties of a vendor's declaration that point at another by name: its price list, the author of its models. */
const DECLARED_PROPERTIES = new Set(['priceProvider', 'author'])

export interface Finding {
  readonly file: string
  readonly line: number
  readonly literal: string
  readonly owner: string
}

/** Slugs by the literal that names them, with the folder and file (or folder) that may say so. */
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

/** Every vendor literal in the sources, those of the console included, outside the vendor's own file. */
export function findVendorNames(root: string): readonly Finding[] {
  const owners = vendorLiterals(root)
  const quoted = new RegExp(`(['"\`])(?:${[...owners.keys()].map((name) => name.replace(/\W/g, '\\$&')).join('|')})\\1`)
  // Most files say no such name, and need not be parsed; but it may be spelt in escapes.
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
