import type { z } from 'zod'
import type { ConfigProblem } from '../core/config-error.ts'
import { insteadOf } from '../lib/closest.ts'
import { memberPath } from '../lib/member-path.ts'
import { HOLDERS_OF_KEYS, LISTS_OF_HOLDERS, SECRET_KEYS } from './schema.ts'

type Path = readonly PropertyKey[]

export interface Explained {
  /** The document before substitution, so that a value from the environment is shown as its reference. */
  readonly raw: unknown
  /** The variable or flag that a value came from instead of the file, by dotted path. */
  readonly origins: ReadonlyMap<string, string>
  readonly lineOf: (path: Path) => number | undefined
}

/** Schema issues as sentences: the path, the value found (secrets hidden), and what is expected. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], context: Explained): ConfigProblem[] {
  const problems = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [problem(issue.path, `${show(issue.path, context)}; ${reasonOf(issue)}`, context)]
    return issue.keys.map((key) =>
      problem([...issue.path, key], `unknown key; ${insteadOf(key, issue.message.replace(/^one of: /, '').split(', '))}`, context),
    )
  })
  // Several rules may refuse a value with the same message.
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
  // An enum inside a record key or a union may still carry the message of the schema library.
  return `expected ${issue.message.replace(/^(Invalid (input|option)|Too (small|big)): expected /, '')}`
}

function show(path: Path, context: Explained): string {
  const value = path.reduce<unknown>(
    (node, step) => (typeof node === 'object' && node !== null ? (node as Record<PropertyKey, unknown>)[step] : undefined),
    context.raw,
  )
  return value === undefined ? 'missing' : shownValue(value, path)
}

/** A value for display: secrets and credentials hidden, references to variables as written, at most 80 characters. */
export function shownValue(value: unknown, path: Path): string {
  // Regular expressions would be taken for addresses with a query.
  const visible = (text: string): string => JSON.stringify(path.at(-1) === 'pattern' ? text : withoutCredentials(text))
  const isSecret = typeof value === 'string' ? isSecretPlace(path) : isOfSecret(path)
  if (typeof value === 'string' && value.includes('${')) return `${visible(isSecret ? namesIn(value) : value)} (from the environment)`
  if (isSecret) return '[hidden]'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  // The value is the whole file, which may hold anything.
  if (path.length === 0) return 'text'
  // JSON cannot write Infinity.
  const text = typeof value === 'string' ? visible(value) : typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

/** Whether a text that stands here is a secret, or most likely one. */
export const isSecretPlace = (path: Path): boolean => isOfSecret(path) || standsForHolder(path)

const isOfSecret = (path: Path): boolean => path.some((step) => typeof step === 'string' && SECRET_KEYS.has(step))

/** Whether a mapping that holds a key belongs here, or a list or mapping of such mappings. */
function standsForHolder(path: Path): boolean {
  const [parent, own] = path.length < 2 ? [undefined, path.at(-1)] : path.slice(-2)
  if (typeof parent === 'string' && LISTS_OF_HOLDERS.has(parent)) return true
  return typeof own === 'string' && (LISTS_OF_HOLDERS.has(own) || HOLDERS_OF_KEYS.has(own))
}

/** Text around a reference, or its default, may be the secret itself. */
const namesIn = (text: string): string => [...text.matchAll(/\$\{[A-Za-z_][A-Za-z0-9_]*/g)].map(([name]) => `${name}}`).join(' ')

/** URLs are often refused because of a part that must not be shown: a password before the host, or a key after the path. */
function withoutCredentials(text: string): string {
  const [, scheme = '', rest = ''] = /^(.*?:\/\/)?(.*)$/s.exec(text)!
  if (scheme === '' && !/^[^\s/]*:.*@|\?.*=/s.test(rest)) return text
  const query = rest.search(/[?#]/)
  const host = rest.lastIndexOf('@')
  // Either mark may occur inside the other part.
  if (query !== -1 && query < host) return `${scheme}[hidden]`
  const end = query === -1 ? rest.length : query
  return `${scheme}${host === -1 ? '' : '[hidden]'}${rest.slice(Math.max(host, 0), end)}${query === -1 ? '' : `${rest[query]}[hidden]`}`
}
