import { z } from 'zod'
import { pattern } from '../shared/pattern.ts'
import { tierFactors } from '../shared/service-tier.ts'
import { MODEL_RULES, traitFields, traitRule } from './model-traits.ts'

const traits = z.strictObject(traitFields).partial()

/** Differences between endpoints of this format. The defaults suit the public API; what depends on the model comes from `model_rules`. */
export const geminiOptions = z.strictObject({
  path: z.string().startsWith('/').default('/models').describe('Path of the models below the base URL; `/<model>:generateContent` follows.'),
  ...traits.shape,
  model_rules: z
    .array(traitRule)
    .default([...MODEL_RULES])
    .describe(
      'What models can do, by a pattern for the upstream id. Later rules override earlier ones; options of the same name override all rules.',
    ),

  later_system: z
    .enum(['instruction', 'user-text'])
    .default('instruction')
    .describe(
      'What later system messages become. `instruction`: part of the system instruction. `user-text`: marked text of the user where they are.',
    ),
  schemas: z
    .enum(['json-schema', 'openapi'])
    .default('json-schema')
    .describe('`openapi`: schemas are rewritten for the older fields `parameters` and `responseSchema`, which know a subset of OpenAPI.'),
  call_ids: z
    .boolean()
    .default(true)
    .describe('Whether calls and results have an `id`. `false`: the server refuses the field, and the order assigns results.'),
  tool_invocations: z
    .boolean()
    .default(true)
    .describe('Whether `includeServerSideToolInvocations` is sent with native tools beside functions. `false`: the server refuses the field.'),
  validated_mode: z.boolean().default(true).describe('Whether `strict` tools use the mode `VALIDATED`.'),
  thoughts: z.enum(['summary', 'text']).default('summary').describe('Whether thoughts become a reasoning summary or reasoning text.'),
  native_tools: z
    .array(z.enum(['web_search', 'code_interpreter']))
    .default(['web_search', 'code_interpreter'])
    .describe('Built-in tools that this endpoint runs itself.'),
  file_uris: z
    .array(pattern)
    .default(['^gs://', '^https://generativelanguage\\.googleapis\\.com/.*files/', '^https?://(www\\.|m\\.)?(youtube\\.com|youtu\\.be)/'])
    .describe('Patterns of addresses that the endpoint reads itself. Others are fetched and sent as data.'),
  service_tier: z.boolean().default(false).describe('Whether the endpoint knows `serviceTier`.'),
  service_tier_header: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .optional()
    .describe('Header for `flex` or `priority`, if the body has no field for it.'),
  tier_factors: tierFactors,
  labels: z.boolean().default(false).describe('Whether `metadata` is sent as billing labels.'),
  safety_settings: z.array(z.record(z.string(), z.unknown())).default([]).describe('Sent as `safetySettings`.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe('Constant body fields; objects are merged one level deep.'),
  pass_through: z.array(z.string()).default([]).describe('Unknown fields of the request that are sent to this endpoint under their own names.'),
})

export type GeminiOptions = z.output<typeof geminiOptions>

/** The public name of thought signatures. */
export const REASONING_FORMAT = 'google-gemini-v1'
