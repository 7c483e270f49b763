import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import ts from 'typescript'

/** The titles of one test, outermost group first, with the placeholders of tables. */
export type TitlePath = readonly string[]

const GROUPS = new Set(['describe', 'suite'])
const TESTS = new Set(['it', 'test'])

/** The groups and tests that a test file declares, found without running it. */
export function readTitles(source: string): TitlePath[] {
  const found: TitlePath[] = []
  const visit = (node: ts.Node, above: TitlePath): void => {
    const declared = ts.isCallExpression(node) ? declaration(node) : undefined
    if (declared === undefined) return ts.forEachChild(node, (child) => visit(child, above))
    const path = [...above, declared.title]
    found.push(path)
    if (declared.isGroup) ts.forEachChild(node, (child) => visit(child, path))
  }
  visit(ts.createSourceFile('test.ts', source, ts.ScriptTarget.Latest, true), [])
  return found
}

/** Recognises `it('...')`, `describe.skipIf(x).each(table)('...')` and the like. */
function declaration(call: ts.CallExpression): { readonly title: string; readonly isGroup: boolean } | undefined {
  let callee: ts.Expression = call.expression
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee) || ts.isTaggedTemplateExpression(callee))
    callee = ts.isTaggedTemplateExpression(callee) ? callee.tag : callee.expression
  if (!ts.isIdentifier(callee)) return undefined
  const isGroup = GROUPS.has(callee.text)
  const title = isGroup || TESTS.has(callee.text) ? titleOf(call.arguments[0]) : undefined
  return title === undefined ? undefined : { title, isGroup }
}

/** A string, or the last argument of a call that makes a title from it. */
function titleOf(argument: ts.Expression | undefined): string | undefined {
  if (argument === undefined) return undefined
  if (ts.isStringLiteralLike(argument)) return argument.text
  return ts.isCallExpression(argument) ? titleOf(argument.arguments.at(-1)) : undefined
}

/**
 * Resolves a reference `file: group > title` to the test's file, or to the reason why there is none. A reference may name a group. A title may be one
 * case of a table, which must then occur in the file or among its fixtures.
 */
export function findTest(root: string, folder: string, reference: string): { readonly file: string } | { readonly missing: string } {
  const [name = '', ...rest] = reference.split(': ')
  const file = name.includes('/') ? name : `${folder}/${name}.test.ts`
  if (!existsSync(join(root, file))) return { missing: `no file ${file}` }
  const { source, titles } = load(join(root, file))
  const wanted = rest.join(': ').split(' > ')
  for (const path of titles) {
    const cases = wanted.length <= path.length ? matchAll(path, wanted) : undefined
    if (cases?.every((text) => standsIn(text, source) || standsInFixtures(text, join(root, dirname(file)))) === true) return { file }
  }
  return { missing: `no test "${wanted.join(' > ')}" in ${file}` }
}

interface Loaded {
  readonly source: string
  readonly titles: readonly TitlePath[]
}

const loaded = new Map<string, Loaded>()

/** Parsed once, because many references lead to the same file. */
function load(path: string): Loaded {
  let file = loaded.get(path)
  if (file === undefined) {
    const source = readFileSync(path, 'utf8')
    loaded.set(path, (file = { source, titles: readTitles(source) }))
  }
  return file
}

/** The texts that replace the placeholders; undefined if a title differs. */
function matchAll(path: TitlePath, wanted: readonly string[]): string[] | undefined {
  const cases: string[] = []
  for (const [index, text] of wanted.entries()) {
    if (text === path[index]) continue
    const pieces = path[index]!.split(/%[sdifjo]/).map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const match = pieces.length > 1 ? new RegExp(`^${pieces.join('(.+)')}$`).exec(text) : null
    if (match === null) return undefined
    cases.push(...match.slice(1))
  }
  return cases
}

const standsIn = (text: string, source: string): boolean => ["'", '"', '`'].some((quote) => source.includes(`${quote}${text}${quote}`))

const standsInFixtures = (text: string, folder: string): boolean =>
  globSync('__fixtures__/**/*.*', { cwd: folder }).some((file) => basename(file).split('.')[0] === text)
