import { z } from 'zod'
import { compileLinearPattern } from '../lib/linear-pattern.ts'
import { BUILTIN_FILTERS, FILTER_ACTIONS } from './guardrail.ts'

/** The rules of a guardrail in the API and in the configuration file. Both share one schema, except that values in a file may come from variables. */

const MAX_ENTRIES = 1_000
const MAX_FILTERS = 100
export const MAX_USD = 1e9

const names = (what: string) =>
  z
    .array(z.string().min(1).max(256), { error: `a list of ${what}` })
    .min(1)
    .max(MAX_ENTRIES)
    .nullable()
    .optional()
const action = z.enum(FILTER_ACTIONS)

/** Names and addresses of people are recognised by models, and this gateway has no such model. */
const NEEDS_RECOGNISER: ReadonlySet<string> = new Set(['person-name', 'address'])
const INJECTION = 'regex-prompt-injection'

/** Marks a message that is complete by itself; other messages only complete "expected ...". */
const COMPLETE_MESSAGE = { whole: true }

const builtinFilter = z
  .strictObject({
    slug: z.enum(BUILTIN_FILTERS).describe('What is looked for.'),
    action: action.describe('What is done about it.'),
    label: z.string().max(100).optional().describe('What it is called where it was found.'),
    scan_scope: z.enum(['user_only', 'all_messages']).optional().describe('Of `regex-prompt-injection`; `user_only` unless set.'),
  })
  .superRefine(({ slug, scan_scope: scope }, context) => {
    if (NEEDS_RECOGNISER.has(slug))
      context.addIssue({
        code: 'custom',
        params: COMPLETE_MESSAGE,
        path: ['slug'],
        message: `${slug} needs a recogniser of names and places, which this gateway does not have`,
      })
    if (scope !== undefined && slug !== INJECTION)
      context.addIssue({ code: 'custom', params: COMPLETE_MESSAGE, path: ['scan_scope'], message: `only ${INJECTION} has a scope` })
  })

const patternFilter = z
  .strictObject({
    pattern: z.string().min(1).describe('A regular expression in the syntax of RE2.'),
    action: action.describe('What is done about it.'),
    label: z.string().max(100).nullable().optional().describe('What it is called where it was found.'),
  })
  .superRefine(({ pattern }, context) => {
    const problem = problemOf(pattern)
    if (problem !== undefined) context.addIssue({ code: 'custom', params: COMPLETE_MESSAGE, path: ['pattern'], message: problem })
  })

function problemOf(pattern: string): string | undefined {
  try {
    const compiled = compileLinearPattern(pattern)
    return compiled.test('') ? 'a pattern that matches the empty text matches everything' : undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** `flag` and `usd`: the schemas of a switch and of an amount, which differ between API and file. */
export const guardrailFieldsOf = <F extends z.ZodType<boolean>, U extends z.ZodType<number>>(flag: F, usd: U) => ({
  allowed_models: names('models, such as acme/small or acme/*').describe('Only these models; `*` stands for any characters.'),
  ignored_models: names('models, such as acme/small or acme/*').describe('None of these models.'),
  allowed_providers: names('slugs of providers').describe('Only these providers: slugs, tags or names.'),
  ignored_providers: names('slugs of providers').describe('None of these providers.'),
  enforce_zdr: flag.nullable().optional().describe('Only endpoints that retain nothing; holds for the authors below that are not set.'),
  enforce_zdr_anthropic: flag.nullable().optional().describe('The same for models of this author.'),
  enforce_zdr_google: flag.nullable().optional().describe('The same for models of this author.'),
  enforce_zdr_openai: flag.nullable().optional().describe('The same for models of this author.'),
  enforce_zdr_xai: flag.nullable().optional().describe('The same for models of this author.'),
  enforce_zdr_other: flag.nullable().optional().describe('The same for models of all other authors.'),
  enable_free_model_training: flag.nullable().optional().describe('`false`: no free endpoints that collect data.'),
  enable_paid_model_training: flag.nullable().optional().describe('`false`: no paid endpoints that collect data.'),
  enable_free_model_publication: flag.nullable().optional().describe('Read like `enable_free_model_training`.'),
  content_filter_builtins: z
    .array(builtinFilter)
    .max(MAX_FILTERS)
    .nullable()
    .optional()
    .describe('What is looked for in texts, and what is done about it.'),
  content_filters: z.array(patternFilter).max(MAX_FILTERS).nullable().optional().describe('The same by your own patterns (RE2).'),
  limit_usd: usd.nullable().optional().describe('USD that each key under the guardrail may spend per period.'),
  reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable().optional().describe('The period; without, ever.'),
  include_byok_in_budgets: flag.optional().describe('Whether calls with callers’ own provider keys count.'),
})

/** The fields as the API accepts them. */
export const guardrailFields = guardrailFieldsOf(z.boolean(), z.number().min(0).max(MAX_USD))
