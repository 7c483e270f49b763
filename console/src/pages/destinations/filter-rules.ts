import type { DestinationFilterRules } from '../../api/schema.ts'
import type { Components, JsonSchema } from './schema-fields.ts'
import { resolved } from './schema-fields.ts'

/** Filter rules of a destination as edited. */

export interface RuleDraft {
  readonly field: string
  readonly operator: string
  readonly value: string
}
export interface GroupDraft {
  readonly logic: string
  readonly rules: readonly RuleDraft[]
}
export interface RulesDraft {
  readonly enabled: boolean
  readonly groups: readonly GroupDraft[]
}

export interface RuleWords {
  readonly fields: readonly string[]
  readonly operators: readonly string[]
  readonly maxGroups: number
  readonly maxRules: number
}

/** The vocabulary of rules, from the schema of `filter_rules`. */
export function ruleWords(schema: JsonSchema, components: Components): RuleWords {
  const groups = resolved(schema, components).properties?.['groups']
  const rules = groups?.items?.properties?.['rules']
  const words = (name: string): readonly string[] => (rules?.items?.properties?.[name]?.enum ?? []) as readonly string[]
  return {
    fields: words('field'),
    operators: words('operator'),
    maxGroups: groups?.maxItems ?? Infinity,
    maxRules: rules?.maxItems ?? Infinity,
  }
}

const PRESENCE = new Set(['exists', 'not_exists'])
/** False for operators that only test for presence. */
export const takesValue = (operator: string): boolean => !PRESENCE.has(operator)

export const NO_RULES: RulesDraft = { enabled: true, groups: [] }

export function draftOf(rules: DestinationFilterRules | null): RulesDraft {
  if (rules === null) return NO_RULES
  const groups = rules.groups.map(({ logic = 'and', rules: own }) => ({
    logic,
    rules: own.map(({ field, operator, value }) => ({ field, operator, value: value === undefined ? '' : String(value) })),
  }))
  return { enabled: rules.enabled ?? true, groups }
}

/** The rules as the API accepts them; null without a group, which matches everything. Groups without a rule are omitted. */
export function rulesOf({ enabled, groups }: RulesDraft): DestinationFilterRules | null {
  const notEmpty = groups.filter(({ rules }) => rules.length > 0)
  if (notEmpty.length === 0) return null
  // The values come from the gateway's own document.
  return { enabled, groups: notEmpty.map(({ logic, rules }) => ({ logic, rules: rules.map(ruleOf) })) } as DestinationFilterRules
}

const ruleOf = ({ field, operator, value }: RuleDraft): object => ({ field, operator, ...(takesValue(operator) ? { value: valueOf(value) } : {}) })

/** A number if the text is its canonical form; `007` and `1e3` stay texts, which numeric operators accept as numbers. */
const valueOf = (text: string): string | number =>
  text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text

/**
 * The rules typed as JSON, or why it is invalid. The gateway validates the rules themselves; what the draft of the editor would drop or turn into text is
 * reported here, because the gateway would never see it.
 */
export function parsedRules(text: string): { readonly rules: DestinationFilterRules | null } | { readonly problem: string } {
  if (text.trim() === '') return { rules: null }
  try {
    const rules = JSON.parse(text) as unknown
    if (rules === null) return { rules }
    if (!isRules(rules)) return { problem: 'expected an object with a list of groups, each with a list of rules' }
    const lost = lostFrom(rules)
    return lost === undefined ? { rules } : { problem: lost }
  } catch (error) {
    return { problem: `is not JSON: ${error instanceof Error ? error.message : 'cannot be read'}` }
  }
}

function isRules(value: unknown): value is DestinationFilterRules {
  const groups = membersOf(value)['groups']
  return Array.isArray(groups) && groups.map(membersOf).every(({ rules }) => Array.isArray(rules) && rules.map(membersOf).every(isRule))
}

const isRule = ({ field, operator }: Members): boolean => typeof field === 'string' && typeof operator === 'string'

/** The first thing that a draft cannot hold: as a typo it would otherwise silently change which calls are forwarded. */
function lostFrom(rules: DestinationFilterRules): string | undefined {
  return firstOf([
    stranger('', rules, ['enabled', 'groups']),
    misfit('enabled', rules.enabled, ['boolean'], 'true or false'),
    ...rules.groups.flatMap((group, at) => [
      stranger(`groups.${at}`, group, ['logic', 'rules']),
      misfit(`groups.${at}.logic`, group.logic, ['string'], 'a text'),
      ...group.rules.flatMap((rule, place) => [
        stranger(`groups.${at}.rules.${place}`, rule, ['field', 'operator', 'value']),
        misfit(`groups.${at}.rules.${place}.value`, rule.value, ['string', 'number'], 'a text or a number'),
      ]),
    ]),
  ])
}

const firstOf = (problems: readonly (string | undefined)[]): string | undefined => problems.find((problem) => problem !== undefined)

function stranger(path: string, holder: object, known: readonly string[]): string | undefined {
  const name = Object.keys(holder).find((one) => !known.includes(one))
  return name === undefined ? undefined : `${path} has no member “${name}”`.trimStart()
}

const misfit = (path: string, value: unknown, types: readonly string[], wanted: string): string | undefined =>
  value === undefined || types.includes(typeof value) ? undefined : `${path}: expected ${wanted}`

interface Members {
  readonly [name: string]: unknown
}
const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {})

/** The rules in one line: `model starts with demo/ and input exists`. */
export function sentenceOf(rules: DestinationFilterRules | null): string {
  if (rules === null || rules.groups.length === 0) return 'Everything'
  const groups = rules.groups.map(({ logic = 'and', rules: own }) => own.map(phraseOf).join(` ${logic} `))
  const conditions = groups.length === 1 ? groups[0]! : groups.map((group) => `(${group})`).join(' and ')
  return rules.enabled === false ? `Everything; filter disabled: ${conditions}` : conditions
}

const phraseOf = ({ field, operator, value }: DestinationFilterRules['groups'][number]['rules'][number]): string =>
  [field, operator.replaceAll('_', ' '), ...(value === undefined ? [] : [JSON.stringify(value)])].join(' ')
