import { FILTER_ACTIONS, type AppliedGuardrail, type BuiltinFilterEntry, type FilterAction, type PatternFilterEntry } from '../../core/guardrail.ts'
import { compileLinearPattern, PatternTooLarge, type LinearPattern } from '../../lib/linear-pattern.ts'
import type { Detector } from './detector.ts'
import { injectionDetector } from './injection.ts'
import { SENSITIVE_KINDS } from './sensitive-text.ts'

/** One thing that is looked for in every text, and what happens if it is found. */
export interface ContentFilter {
  readonly action: FilterAction
  readonly kind: 'content' | 'injection'
  /** The name that callers see. */
  readonly label: string
  /** The name for programs. */
  readonly entity: string
  /** Replaces what was found. */
  readonly placeholder: string
  readonly detector: Detector
  readonly userOnly: boolean
  readonly guardrail: Pick<AppliedGuardrail, 'id' | 'scope'>
}

const NO_LABEL = '[BLOCKED]'

/** The filters of all guardrails of a call. If several look for the same thing, the strictest action counts. */
export function compileFilters(guardrails: readonly AppliedGuardrail[]): readonly ContentFilter[] {
  const byThing = new Map<string, ContentFilter>()
  const add = (thing: string, filter: ContentFilter): void => {
    const other = byThing.get(thing)
    const strict = other === undefined || strictness(filter) > strictness(other) ? filter : other
    // The widest scope counts.
    byThing.set(thing, { ...strict, userOnly: filter.userOnly && (other?.userOnly ?? true) })
  }
  for (const guardrail of guardrails) {
    for (const entry of guardrail.rules.content_filter_builtins ?? []) {
      const filter = builtinFilter(entry, guardrail)
      if (filter !== undefined) add(`builtin ${entry.slug}`, filter)
    }
    for (const entry of guardrail.rules.content_filters ?? []) {
      const filter = patternFilter(entry, guardrail)
      if (filter !== undefined) add(`pattern ${entry.pattern}`, filter)
    }
  }
  return [...byThing.values()]
}

const strictness = ({ action }: ContentFilter): number => FILTER_ACTIONS.indexOf(action)

function builtinFilter({ slug, action, label, scan_scope: scope }: BuiltinFilterEntry, guardrail: AppliedGuardrail): ContentFilter | undefined {
  if (slug === 'regex-prompt-injection') {
    return {
      action,
      kind: 'injection',
      label: label ?? 'Prompt injection',
      entity: 'PROMPT_INJECTION',
      placeholder: '[PROMPT_INJECTION]',
      detector: injectionDetector,
      userOnly: scope !== 'all_messages',
      guardrail,
    }
  }
  const kind = SENSITIVE_KINDS[slug]
  if (kind === undefined) return undefined
  return {
    action,
    kind: 'content',
    label: label ?? kind.label,
    entity: kind.placeholder.slice(1, -1),
    placeholder: kind.placeholder,
    detector: kind,
    userOnly: false,
    guardrail,
  }
}

/** Compiled once, whoever it applies to and whatever else changes. */
const compiledEntries = new WeakMap<PatternFilterEntry, LinearPattern>()

function compileEntry(entry: PatternFilterEntry): LinearPattern {
  let compiled = compiledEntries.get(entry)
  if (compiled === undefined) {
    compiled = compileLinearPattern(entry.pattern)
    compiledEntries.set(entry, compiled)
  }
  return compiled
}

/** Patterns are checked when they are stored; one that can no longer be read (a row edited by hand) is skipped. */
function patternFilter(entry: PatternFilterEntry, guardrail: AppliedGuardrail): ContentFilter | undefined {
  const { action, label } = entry
  const filter = (detector: Detector): ContentFilter => ({
    action,
    kind: 'content',
    label: label ?? NO_LABEL,
    entity: label ?? 'CUSTOM',
    placeholder: '[REDACTED]',
    detector,
    userOnly: false,
    guardrail,
  })
  try {
    const compiled = compileEntry(entry)
    return filter({ find: (text, from) => compiled.search(text, from) })
  } catch (error) {
    // Stored when larger patterns were accepted. Somebody relies on it, so until it is split every text counts as containing it.
    if (error instanceof PatternTooLarge && action !== 'flag') return { ...filter(EVERYTHING), action: 'block', label: TOO_LARGE }
    return undefined
  }
}

const TOO_LARGE = 'a pattern of the guardrail is too large to be looked for; split it'
const EVERYTHING: Detector = { find: (text) => [{ start: 0, end: text.length }] }
