import type { z } from 'zod'
import { countCharacters } from '../../lib/count-characters.ts'
import { describeKind, nameKind, quote } from './schema-combinators.ts'

/**
 * Faults in plain words: one path, one reason, one sentence. Schemas of this folder stop at the first fault, and their unions pick one branch, so there
 * are never several issues to choose from, only one to explain well.
 */

const MAX_VALUES = 16
const MAX_SENTENCE = 900

const EXPECTED: { readonly [type: string]: string } = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
}

/** Completes the sentence "<path> ...". Passed to zod as its error map; messages in the schemas themselves take precedence. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return describeKind(issue.input, EXPECTED[issue.expected] ?? issue.expected)
    case 'invalid_value':
      return describeValue(issue.values, issue.input)
    case 'too_big':
      return `must ${bound('at most', issue.maximum, issue.origin)}${instead(issue.input)}`
    case 'too_small':
      return isEmptyText(issue.input) ? 'must not be empty' : `must ${bound('at least', issue.minimum, issue.origin)}${instead(issue.input)}`
    default:
      return issue.message ?? 'is not valid'
  }
}

function describeValue(values: readonly unknown[], input: unknown): string {
  const shown = values.slice(0, MAX_VALUES).map((value) => JSON.stringify(value))
  const wanted = shown.length === 1 ? shown.join() : `one of ${shown.join(', ')}`
  if (input === undefined) return `is required and must be ${wanted}`
  return `must be ${wanted}, not ${typeof input === 'string' ? quote(input) : nameKind(input)}`
}

function bound(word: 'at most' | 'at least', limit: number | bigint, origin: string): string {
  if (origin === 'string') return `have ${word} ${limit} characters`
  if (origin === 'array') return `have ${word} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
  return `be ${word} ${limit}`
}

function instead(input: unknown): string {
  if (typeof input === 'number') return `, not ${input}`
  if (typeof input === 'string') return `, not ${countCharacters(input)}`
  if (Array.isArray(input)) return `, not ${input.length}`
  return ''
}

function isEmptyText(input: unknown): boolean {
  return input === ''
}

/** `input[2].content[0].image_url`; keys that are not plain names are quoted in brackets, and shortened if long. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[A-Za-z_][\w-]{0,63}$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`
    else text += `[${quote(String(part))}]`
  }
  return text === '' ? 'body' : text
}

/** "input[0].role must be ...": one sentence, under a kilobyte whatever the caller sent. */
export function toSentence(path: string, reason: string): string {
  const subject = path === 'body' ? 'The request body' : path
  const sentence = `${subject} ${reason}`
  return `${sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE).toWellFormed()}...` : sentence}.`
}
