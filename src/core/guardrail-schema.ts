import { z } from 'zod'
import { compileLinearPattern } from '../lib/linear-pattern.ts'
import { BUILTIN_FILTERS, FILTER_ACTIONS } from './guardrail.ts'

/** What a guardrail may demand, as the API and the configuration file take it: one schema for both. */

const MAX_ENTRIES = 1_000
const MAX_FILTERS = 100

const names = (what: string) =>
  z
    .array(z.string().min(1).max(256), { error: `a list of ${what}` })
    .min(1)
    .max(MAX_ENTRIES)
    .nullable()
    .optional()
const flag = z.boolean().nullable().optional()
const action = z.enum(FILTER_ACTIONS)

/** Names and addresses of people are found by models, which this gateway has none of. */
const NEEDS_RECOGNISER: ReadonlySet<string> = new Set(['person-name', 'address'])
const INJECTION = 'regex-prompt-injection'

const builtinFilter = z
  .strictObject({
    slug: z.enum(BUILTIN_FILTERS),
    action,
    label: z.string().max(100).optional(),
    scan_scope: z.enum(['user_only', 'all_messages']).optional(),
  })
  .superRefine(({ slug, scan_scope: scope }, context) => {
    if (NEEDS_RECOGNISER.has(slug))
      context.addIssue({
        code: 'custom',
        path: ['slug'],
        message: `${slug} needs a recogniser of names and places, which this gateway does not have`,
      })
    if (scope !== undefined && slug !== INJECTION)
      context.addIssue({ code: 'custom', path: ['scan_scope'], message: `only ${INJECTION} has a scope` })
  })

const patternFilter = z
  .strictObject({ pattern: z.string().min(1), action, label: z.string().max(100).nullable().optional() })
  .superRefine(({ pattern }, context) => {
    const problem = problemOf(pattern)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['pattern'], message: problem })
  })

function problemOf(pattern: string): string | undefined {
  try {
    const compiled = compileLinearPattern(pattern)
    return compiled.test('') ? 'a pattern that matches the empty text matches everything' : undefined
  } catch (error) {
    return (error as Error).message
  }
}

export const guardrailFields = {
  allowed_models: names('models, such as acme/small or acme/*'),
  ignored_models: names('models, such as acme/small or acme/*'),
  allowed_providers: names('slugs of providers'),
  ignored_providers: names('slugs of providers'),
  enforce_zdr: flag,
  enforce_zdr_anthropic: flag,
  enforce_zdr_google: flag,
  enforce_zdr_openai: flag,
  enforce_zdr_xai: flag,
  enforce_zdr_other: flag,
  enable_free_model_training: flag,
  enable_paid_model_training: flag,
  enable_free_model_publication: flag,
  content_filter_builtins: z.array(builtinFilter).max(MAX_FILTERS).nullable().optional(),
  content_filters: z.array(patternFilter).max(MAX_FILTERS).nullable().optional(),
  limit_usd: z.number().min(0).max(1e9).nullable().optional(),
  reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable().optional(),
  include_byok_in_budgets: z.boolean().optional(),
}
