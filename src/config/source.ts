import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type YAMLError } from 'yaml'
import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import { isMapping } from './substitute.ts'

/** The text of a file, parsed. */
export interface Source {
  /** Null or undefined when the file says nothing. */
  readonly tree: unknown
  readonly lineOf: (path: readonly PropertyKey[]) => number | undefined
}

export const EMPTY: Source = { tree: {}, lineOf: () => undefined }

/** YAML or JSON. Throws ConfigError, which never quotes the text: a misplaced value may be a key. */
export function parseSource(content: string, file: string): Source {
  const lines = new LineCounter()
  // JSON is YAML, so one parser reads both and knows the lines of both.
  // People who use anchors also use merge keys (`<<: *base`), although YAML 1.2 dropped them.
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, merge: true })
  const lineAt = (error: YAMLError): number => lines.linePos(error.pos[0]).line
  const problems: ConfigProblem[] = unquotedReferences(document, content).map((error) => ({
    path: 'document',
    message: UNQUOTED,
    line: lineAt(error),
  }))
  if (problems.length === 0)
    problems.push(...document.errors.map((error) => ({ path: 'document', message: withoutSource(error), line: lineAt(error) })))
  if (problems.length === 0) problems.push(...danglingAliases(document, lines))
  if (problems.length === 0) problems.push(...wrongMerges(document, lines))
  if (problems.length === 0) problems.push(...keysThatAreNoText(document, lines))
  if (problems.length > 0) throw new ConfigError(problems, file)
  let tree: unknown
  try {
    tree = document.toJS()
  } catch {
    // The parser limits how often aliases are expanded.
    throw new ConfigError([{ path: 'document', message: 'aliases stand for more than any configuration holds' }], file)
  }
  return { tree, lineOf: (path) => lineOf(document, lines, path) }
}

const UNQUOTED = 'a reference within [ ] or { } is not in quotation marks; expected "${NAME}"'

/** YAML ends a text within brackets at the brace of a reference. Whatever else the parser finds mostly follows from that. */
const unquotedReferences = ({ errors }: Document, content: string): readonly YAMLError[] =>
  errors.filter(({ pos }) => pos[0] > 0 && content.startsWith('${', pos[0] - 1))

/** Our wording for messages of the parser that quote the file or speak of its internals. */
const OWN_WORDS: { readonly [code in YAMLError['code']]?: string } = {
  BAD_DIRECTIVE: 'Unknown directive',
  MULTIPLE_DOCS: 'a second document begins here (---); expected one document that holds the whole configuration',
  BAD_DQ_ESCAPE: 'Invalid escape sequence in a double-quoted text',
  TAG_RESOLVE_FAILED: 'Unknown tag',
}

/** What follows a colon may quote the file, except in messages about what is not there. */
const withoutSource = ({ code, message }: YAMLError): string => OWN_WORDS[code] ?? (code === 'MISSING_CHAR' ? message : message.split(': ', 1)[0]!)

function danglingAliases(document: Document, lines: LineCounter): ConfigProblem[] {
  const found: ConfigProblem[] = []
  visit(document, {
    Alias: (_key, alias, path) => {
      const target = alias.resolve(document)
      const isInside = target !== undefined && path.includes(target)
      if (target !== undefined && !isInside) return
      const start = alias.range?.[0]
      const line = start === undefined ? {} : { line: lines.linePos(start).line }
      const message = isInside ? 'an alias stands for what it is a part of' : 'an alias stands for an anchor that is not before it'
      found.push({ path: 'document', message, ...line })
    },
  })
  return found
}

/** Values of `<<` that cannot be merged. The parser would stop at the first one and not say its line. */
function wrongMerges(document: Document, lines: LineCounter): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const canMerge = (node: unknown): boolean => isMap(isAlias(node) ? node.resolve(document) : node)
  visit(document, {
    Pair: (_key, { key, value }) => {
      // How the parser marks such a key.
      if (!isScalar(key) || typeof key.value !== 'symbol') return
      const merged: unknown = isAlias(value) ? value.resolve(document) : value
      if (isSeq(merged) ? merged.items.every(canMerge) : canMerge(merged)) return
      const line = key.range == null ? {} : { line: lines.linePos(key.range[0]).line }
      found.push({ path: 'document', message: '<< merges something that is no mapping; expected an alias of a mapping, or a list of them', ...line })
    },
  })
  return found
}

/** A template that was not filled in reads as a mapping within a mapping. The parser would make a text of such a key, and print it. */
function keysThatAreNoText(document: Document, lines: LineCounter): ConfigProblem[] {
  const found: ConfigProblem[] = []
  const message = 'a key is a mapping or a list; expected text, and a template such as {{ name }} to be filled in'
  visit(document, {
    Pair: (_key, { key }) => {
      if (!isNode(key) || !isCollection(isAlias(key) ? key.resolve(document) : key)) return undefined
      const line = key.range == null ? {} : { line: lines.linePos(key.range[0]).line }
      found.push({ path: 'document', message, ...line })
      return visit.SKIP
    },
  })
  return found
}

/** The line of the value at this path, or else of the nearest enclosing value. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let depth = path.length; depth > 0; depth--) {
    const node: unknown = document.getIn(path.slice(0, depth), true)
    const range = isMapping(node) ? node['range'] : undefined
    if (Array.isArray(range) && typeof range[0] === 'number') return lines.linePos(range[0]).line
  }
  return undefined
}
