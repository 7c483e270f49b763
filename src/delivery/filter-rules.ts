import { RE2JS } from 're2js'
import { z } from 'zod'
import { roundUsd } from '../core/cost.ts'
import { finishReasonOf, type Generation, type GenerationContent } from '../core/generation.ts'
import type { FilterRule, FilterRules } from '../core/outbox.ts'
import { classSize } from '../lib/class-size.ts'
import { findText } from '../lib/find-text.ts'
import { unfoldedSize } from '../lib/unfolded-size.ts'
import { inputText, outputText } from './content-text.ts'

/** Filter rules of a destination: validated when written, compiled once, and evaluated for every generation before anything is removed from it. */

export const TEXT_FIELDS = ['model', 'provider', 'session_id', 'user_id', 'api_key_name', 'finish_reason', 'input', 'output'] as const
export const NUMBER_FIELDS = ['total_cost', 'total_tokens', 'prompt_tokens', 'completion_tokens'] as const
export const FILTER_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'regex',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'gte',
  'lte',
  'exists',
  'not_exists',
] as const
type Field = (typeof TEXT_FIELDS)[number] | (typeof NUMBER_FIELDS)[number]
type Operator = (typeof FILTER_OPERATORS)[number]

const MAX_GROUPS = 20
const MAX_RULES = 50
const MAX_VALUE_CHARS = 4_000
const MAX_PATTERN_CHARS = 1_000
/** Instructions of a compiled pattern. Together with the character budget below it bounds the time of one match to about 25 ms (measured). */
const MAX_PROGRAM = 2_000
/** A larger pattern is refused without compiling it to see how large it is, because rules may hold a thousand. */
const MAX_UNFOLDED = 2 * MAX_PROGRAM
/** All characters that have a case, once: the characters visited to build its classes. */
const MAX_CLASSES = 130_000
const REGEX_WORK = 3_000_000
/** Of all patterns of a destination, which may have a thousand: they share what so many may take. */
const SHARED_BY = 4
/** Characters of a conversation that rules look at. */
const MAX_TEXT = 1_000_000
/** Of which all that look for pieces of text look at so many together: sixteen at all of it. */
const MAX_SEARCHED = 16_000_000

const isNumeric = (operator: Operator): boolean => operator === 'gt' || operator === 'lt' || operator === 'gte' || operator === 'lte'
const isPresence = (operator: Operator): boolean => operator === 'exists' || operator === 'not_exists'

/** A number, or text that is one; undefined for everything else. */
function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

/** What is wrong with a rule, as a sentence; undefined if nothing is. */
function ruleProblem(rule: { readonly operator: Operator; readonly value?: string | number | undefined }): string | undefined {
  if (isPresence(rule.operator)) return undefined
  if (rule.value === undefined) return `operator ${rule.operator} needs a value`
  if (isNumeric(rule.operator) && toNumber(rule.value) === undefined) return `operator ${rule.operator} needs a number`
  if (rule.operator !== 'regex') return undefined
  if (String(rule.value).length > MAX_PATTERN_CHARS) return `a regular expression may have at most ${MAX_PATTERN_CHARS} characters`
  try {
    return compilePattern(String(rule.value)) === undefined ? 'the regular expression is too large' : undefined
  } catch (error) {
    return `invalid regular expression: ${error instanceof Error ? error.message.slice(0, 200) : 'cannot be parsed'}`
  }
}

function compilePattern(source: string): RE2JS | undefined {
  if (unfoldedSize(source) > MAX_UNFOLDED || classSize(source) > MAX_CLASSES) return undefined
  const pattern = RE2JS.compile(source)
  return pattern.programSize() > MAX_PROGRAM ? undefined : pattern
}

const ruleSchema = z
  .strictObject({
    field: z.enum([...TEXT_FIELDS, ...NUMBER_FIELDS]),
    operator: z.enum(FILTER_OPERATORS),
    value: z
      .union([z.string().max(MAX_VALUE_CHARS), z.number()], {
        error: `a text of at most ${MAX_VALUE_CHARS} characters or a number is expected; exists and not_exists do without`,
      })
      .optional(),
  })
  .superRefine((rule, context) => {
    const problem = ruleProblem(rule)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['value'], message: problem })
  })

/** The shape that the API accepts: 12 fields, 13 operators. Patterns are compiled here once, so that a bad one is refused when it is written. */
export const filterRulesSchema = z.strictObject({
  enabled: z.boolean().default(true),
  groups: z.array(z.strictObject({ logic: z.enum(['and', 'or']).default('and'), rules: z.array(ruleSchema).max(MAX_RULES) })).max(MAX_GROUPS),
})

export interface FilterSubject {
  readonly generation: Generation
  readonly content?: GenerationContent | undefined
}

export type Filter = (subject: FilterSubject) => boolean

/** A compiled rule: takes the values of its field (a provider has two names) and returns whether it holds. */
type Test = (values: readonly (string | number)[]) => boolean

/**
 * Compiles rules into one function. The rules of a group are joined by its `logic`, groups are joined by AND, and a group without rules matches.
 * Null, disabled or no groups mean no filtering. Expects rules that passed `filterRulesSchema`; throws for an invalid pattern, and for
 * fields and operators that only another version knows.
 */
export function compileFilter(rules: FilterRules | null): Filter {
  if (rules === null || rules.enabled === false || rules.groups.length === 0) return () => true
  const count = (...named: readonly string[]): number =>
    Math.max(1, rules.groups.flatMap((group) => group.rules).filter(({ operator }) => named.includes(operator)).length)
  const share = {
    work: Math.min(REGEX_WORK, (SHARED_BY * REGEX_WORK) / count('regex')),
    chars: Math.min(MAX_TEXT, Math.floor(MAX_SEARCHED / count('contains', 'not_contains'))),
  }
  const groups = rules.groups.map((group) => {
    const tests = group.rules.map((rule) => compileRule(rule, share))
    if (tests.length === 0) return (): boolean => true
    return group.logic === 'or'
      ? (read: Reader): boolean => tests.some((test) => test(read))
      : (read: Reader): boolean => tests.every((test) => test(read))
  })
  return (subject) => {
    const read = createReader(subject)
    return groups.every((group) => group(read))
  }
}

/** The values of a field; undefined if they are unknown, because the content was not kept. */
type Reader = (field: Field) => readonly (string | number)[] | undefined

const FIELDS: ReadonlySet<string> = new Set([...TEXT_FIELDS, ...NUMBER_FIELDS])

function compileRule(rule: FilterRule, share: Pick<Comparison, 'work' | 'chars'>): (read: Reader) => boolean {
  // Stored by a newer version. Asked only when a call is recorded, it would keep all records from being written.
  if (!FIELDS.has(rule.field)) throw new Error(`filter_rules name the field ${JSON.stringify(rule.field)}, which this version does not know`)
  if (!Object.hasOwn(OPERATORS, rule.operator)) {
    throw new Error(`filter_rules use the operator ${JSON.stringify(rule.operator)}, which this version does not know`)
  }
  const field = rule.field as Field
  const test = OPERATORS[rule.operator as Operator]({ field, wanted: String(rule.value), number: toNumber(rule.value), ...share })
  // What is not known to be wanted is not sent.
  return (read) => {
    const values = read(field)
    return values !== undefined && test(values)
  }
}

const NUMBERS: ReadonlySet<string> = new Set(NUMBER_FIELDS)

interface Comparison {
  readonly field: Field
  readonly wanted: string
  /** The value as a number, if it is one. */
  readonly number: number | undefined
  /** For a regular expression: instructions times characters that it may take. */
  readonly work: number
  /** For what looks for a piece of text: characters it looks at. */
  readonly chars: number
}

const some =
  (holds: (actual: string) => boolean): Test =>
  (values) =>
    values.some((value) => holds(String(value)))

const not =
  (test: Test): Test =>
  (values) =>
    !test(values)

function compares(number: number | undefined, holds: (actual: number, wanted: number) => boolean): Test {
  if (number === undefined) return () => false
  return (values) =>
    values.some((value) => {
      const actual = toNumber(value)
      return actual !== undefined && holds(actual, number)
    })
}

const equals = ({ field, wanted, number }: Comparison): Test =>
  NUMBERS.has(field) && number !== undefined ? compares(number, (a, b) => a === b) : some((actual) => actual === wanted)
const includes = ({ wanted, chars }: Comparison): Test => some((actual) => findText(actual.slice(0, chars), wanted) !== -1)
const exists: Test = some((actual) => actual !== '')

const OPERATORS: { readonly [O in Operator]: (comparison: Comparison) => Test } = {
  equals,
  not_equals: (c) => not(equals(c)),
  contains: includes,
  not_contains: (c) => not(includes(c)),
  starts_with: ({ wanted }) => some((actual) => actual.startsWith(wanted)),
  ends_with: ({ wanted }) => some((actual) => actual.endsWith(wanted)),
  regex: ({ wanted, work }) => regexTest(wanted, work),
  gt: ({ number }) => compares(number, (a, b) => a > b),
  lt: ({ number }) => compares(number, (a, b) => a < b),
  gte: ({ number }) => compares(number, (a, b) => a >= b),
  lte: ({ number }) => compares(number, (a, b) => a <= b),
  exists: () => exists,
  not_exists: () => not(exists),
}

/** RE2 is linear in the text, by a factor of the program's size; so the larger a pattern is, the less text it sees. */
function regexTest(source: string, work: number): Test {
  const pattern = RE2JS.compile(source)
  const chars = Math.floor(work / Math.max(30, pattern.programSize()))
  return (values) => values.some((v) => pattern.test(String(v).slice(0, chars)))
}

type Value = string | number | undefined

/** A provider has a slug and a display name, and a rule may use either. */
const FIELD_VALUES: { readonly [F in Exclude<Field, 'input' | 'output'>]: (generation: Generation) => readonly Value[] } = {
  model: (g) => [g.model ?? g.requestedModel],
  provider: (g) => [g.provider, g.providerName],
  session_id: (g) => [g.sessionId],
  user_id: (g) => [g.externalUser],
  api_key_name: (g) => [g.keyName],
  finish_reason: (g) => [finishReasonOf(g)],
  total_cost: (g) => [g.cost.source === 'unknown' ? undefined : roundUsd(g.cost.total)],
  total_tokens: (g) => [g.usage.totalTokens],
  prompt_tokens: (g) => [g.usage.inputTokens],
  completion_tokens: (g) => [g.usage.outputTokens],
}

function createReader({ generation, content }: FilterSubject): Reader {
  let input: readonly string[] | undefined
  let output: readonly string[] | undefined
  return (field) => {
    if (field === 'input') return (input ??= content && [inputText(content, MAX_TEXT)])
    if (field === 'output') return (output ??= content && [outputText(content, MAX_TEXT)])
    return FIELD_VALUES[field](generation).filter((value) => value !== undefined)
  }
}
