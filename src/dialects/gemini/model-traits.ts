import { z } from 'zod'
import { pattern } from '../shared/pattern.ts'

/** Differences between models of this format. Each may be an option of its own, or come from a rule for the model's name. */
export const traitFields = {
  thinking: z.enum(['none', 'budget', 'level']).describe('How thinking is requested: not at all, with `thinkingBudget`, or with `thinkingLevel`.'),
  thinking_levels: z
    .array(z.enum(['minimal', 'low', 'medium', 'high', 'xhigh']))
    .describe('Levels that the model knows; the lowest is used for "off".'),
  thinking_budget: z
    .strictObject({ min: z.int().nonnegative(), max: z.int().positive(), off: z.boolean() })
    .describe('Limits of the budget in tokens, and whether 0 switches thinking off.'),
  system_instruction: z.boolean().describe('`false`: system text is put before the first user turn.'),
  call_signatures: z.boolean().describe('The model refuses earlier calls without a signature, so calls of another model get a placeholder.'),
  tools_with_schema: z.boolean().describe('Whether structured output and functions may be combined.'),
  tools_with_search: z.boolean().describe('Whether native search and functions may be combined.'),
  tool_result_media: z.boolean().describe('Whether tool results may contain media. If not, the media follow in a user turn.'),
  prefill: z.boolean().describe('Whether a conversation may end with the beginning of the answer. If not, a user message asks to continue.'),
  sampling: z.boolean().describe('Whether `temperature`, `top_p` and `top_k` have an effect. If not, they are left out.'),
  penalties: z.boolean().describe('Whether presence and frequency penalties are accepted.'),
  image_output: z.boolean().describe('Whether the model answers with images.'),
  search_unit: z.enum(['query', 'prompt']).describe('Whether a native search is charged per query or per prompt.'),
}

const allTraits = z.strictObject(traitFields)
const someTraits = allTraits.partial()
/** Traits of the models whose upstream id matches. */
export const traitRule = z.strictObject({ match: pattern, ...someTraits.shape })

export type ModelTraits = z.output<typeof allTraits>
export type TraitRule = z.output<typeof traitRule>

/** Traits of unknown models. Every generation understands the budget field, and generations that require no signature ignore the placeholder. */
const UNKNOWN_MODEL: ModelTraits = {
  thinking: 'budget',
  thinking_levels: ['low', 'medium', 'high'],
  thinking_budget: { min: 128, max: 24_576, off: true },
  system_instruction: true,
  call_signatures: true,
  tools_with_schema: true,
  tools_with_search: false,
  tool_result_media: false,
  prefill: true,
  sampling: true,
  penalties: true,
  image_output: false,
  search_unit: 'query',
}

/** By generation, then by size; later rules override earlier ones. */
export const MODEL_RULES: readonly TraitRule[] = [
  { match: '(^|/)gemini-(1|2)\\.', call_signatures: false, tools_with_schema: false, search_unit: 'prompt' },
  { match: '(^|/)gemini-(1|2\\.0)', thinking: 'none' },
  { match: '(^|/)gemini-2\\.5', thinking_budget: { min: 1, max: 24_576, off: true }, penalties: false },
  { match: '(^|/)gemini-2\\.5-pro', thinking_budget: { min: 128, max: 32_768, off: false } },
  { match: '(^|/)gemini-2\\.5-flash-lite', thinking_budget: { min: 512, max: 24_576, off: true } },
  {
    match: '(^|/)gemini-([3-9]|\\d\\d|nano-banana|(flash|flash-lite|pro)-latest)',
    thinking: 'level',
    thinking_levels: ['minimal', 'low', 'medium', 'high'],
    tools_with_search: true,
    tool_result_media: true,
    penalties: false,
  },
  { match: '(^|/)gemini-3-pro', thinking_levels: ['low', 'high'] },
  { match: '(^|/)gemini-3\\.\\d+-pro', thinking_levels: ['low', 'medium', 'high'] },
  // Their lowest level is low: `minimal` is refused.
  { match: '(^|/)gemini-(3\\.([7-9]|\\d\\d)-flash(?!-lite)|[4-9]|\\d\\d|(flash|pro)-latest)', thinking_levels: ['low', 'medium', 'high'] },
  { match: '(^|/)gemini-([4-9]|\\d\\d).*-hydrogen', thinking_levels: ['low', 'medium', 'high', 'xhigh'] },
  { match: '(^|/)gemini-(3\\.5-flash-lite|3\\.([6-9]|\\d\\d)|[4-9]|\\d\\d|nano-banana|(flash|flash-lite|pro)-latest)', prefill: false },
  // https://ai.google.dev/gemini-api/docs/latest-model: these parameters are ignored, and will be an error in future models.
  { match: '(^|/)gemini-(3\\.5-flash-lite|3\\.([6-9]|\\d\\d)|[4-9]|\\d\\d|(flash|flash-lite)-latest)', sampling: false },
  { match: '(^|/)gemini-(.*-image|nano-banana)', image_output: true, thinking: 'none' },
  { match: '(^|/)gemma', thinking: 'none', system_instruction: false, call_signatures: false, tools_with_schema: false },
  { match: '(^|/)gemma-([4-9]|\\d\\d)', thinking: 'level', thinking_levels: ['minimal', 'high'], system_instruction: true },
]

export type TraitOptions = z.output<typeof someTraits> & { readonly model_rules: readonly TraitRule[] }

const known = new WeakMap<TraitOptions, Map<string, ModelTraits>>()

/** The traits of a model: from explicit options, or else from the rules that match its name, or else the defaults of unknown models. */
export function traitsOf(options: TraitOptions, model: string): ModelTraits {
  const models = known.get(options) ?? new Map<string, ModelTraits>()
  known.set(options, models)
  const before = models.get(model)
  if (before !== undefined) return before
  const matching = options.model_rules.filter(({ match }) => new RegExp(match, 'i').test(model))
  const traits = { ...UNKNOWN_MODEL }
  for (const source of [...matching, options]) {
    for (const name of Object.keys(traitFields) as (keyof ModelTraits)[]) {
      if (source[name] !== undefined) Object.assign(traits, { [name]: source[name] })
    }
  }
  models.set(model, traits)
  return traits
}
