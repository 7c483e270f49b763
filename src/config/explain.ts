import type { z } from 'zod'
import type { ConfigProblem } from '../core/config-error.ts'
import { insteadOf } from '../lib/closest.ts'
import { memberPath } from '../lib/member-path.ts'
import { SECRET_KEYS } from './schema.ts'

type Path = readonly PropertyKey[]

export interface Explained {
  /** The document before substitution, so that a value from the environment is shown as its reference. */
  readonly raw: unknown
  /** Where a value came from when it was not the file: variable or flag, by dotted path. */
  readonly origins: ReadonlyMap<string, string>
  readonly lineOf: (path: Path) => number | undefined
}

/** Schema issues as sentences: path, the value that is there (secrets hidden), what would be right. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], context: Explained): ConfigProblem[] {
  const problems = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [problem(issue.path, `${show(issue.path, context)}; ${reasonOf(issue)}`, context)]
    return issue.keys.map((key) =>
      problem([...issue.path, key], `unknown key; ${insteadOf(key, issue.message.replace(/^one of: /, '').split(', '))}`, context),
    )
  })
  // Several rules may refuse a value in the same words.
  return [...new Map(problems.map((one) => [`${one.path}\n${one.message}`, one])).values()]
}

function problem(path: Path, message: string, context: Explained): ConfigProblem {
  const origin = context.origins.get(memberPath('', path))
  if (origin !== undefined) return { path: origin, message }
  const line = context.lineOf(path)
  return { path: path.length === 0 ? 'document' : memberPath('', path), message, ...(line === undefined ? {} : { line }) }
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom' && issue.params?.['whole'] === true) return issue.message
  // An enum inside a record key or a union may still carry the library's own wording.
  return `expected ${issue.message.replace(/^(Invalid (input|option)|Too (small|big)): expected /, '')}`
}

function show(path: Path, context: Explained): string {
  const value = path.reduce<unknown>(
    (node, step) => (typeof node === 'object' && node !== null ? (node as Record<PropertyKey, unknown>)[step] : undefined),
    context.raw,
  )
  return value === undefined ? 'missing' : shownValue(value, path)
}

/** A value as people may see it: secrets and credentials hidden, references to variables as they are written, 80 characters at the most. */
export function shownValue(value: unknown, path: Path): string {
  // Regular expressions look like addresses with a query.
  const visible = (text: string): string => JSON.stringify(path.at(-1) === 'pattern' ? text : withoutCredentials(text))
  const isSecret = path.some((step) => typeof step === 'string' && SECRET_KEYS.has(step))
  if (typeof value === 'string' && value.includes('${')) return `${visible(isSecret ? namesIn(value) : value)} (from the environment)`
  if (isSecret) return '[hidden]'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  // Somebody's whole file: it may be anything.
  if (path.length === 0) return 'text'
  // JSON has no word for numbers without end.
  const text = typeof value === 'string' ? visible(value) : typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

/** What stands around a reference, or in it for when the variable is not set, may be the secret itself. */
const namesIn = (text: string): string => [...text.matchAll(/\$\{[A-Za-z_][A-Za-z0-9_]*/g)].map(([name]) => `${name}}`).join(' ')

/** URLs are often refused for what must not be shown: the password before the host, the key behind the path. */
function withoutCredentials(text: string): string {
  const [, scheme = '', rest = ''] = /^(.*?:\/\/)?(.*)$/s.exec(text)!
  if (scheme === '' && !/^[^\s/]*:.*@|\?.*=/s.test(rest)) return text
  const query = rest.search(/[?#]/)
  const host = rest.lastIndexOf('@')
  // Either may be a part of the other.
  if (query !== -1 && query < host) return `${scheme}[hidden]`
  const end = query === -1 ? rest.length : query
  return `${scheme}${host === -1 ? '' : '[hidden]'}${rest.slice(Math.max(host, 0), end)}${query === -1 ? '' : `${rest[query]}[hidden]`}`
}
