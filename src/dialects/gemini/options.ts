import { z } from 'zod'
import { pattern } from '../shared/pattern.ts'
import { MODEL_RULES, traitFields, traitRule } from './model-traits.ts'

const traits = z.strictObject(traitFields).partial()

/** How endpoints of this format differ. The defaults suit the public API; what depends on the model comes from `model_rules`. */
export const geminiOptions = z.strictObject({
  path: z.string().startsWith('/').default('/models').describe('Where models live under the base URL; `/<model>:generateContent` follows.'),
  ...traits.shape,
  model_rules: z
    .array(traitRule)
    .default([...MODEL_RULES])
    .describe('What models can do, by a pattern on the upstream id; later rules go over earlier ones, options of the same name over all.'),

  later_system: z
    .enum(['instruction', 'user-text'])
    .default('instruction')
    .describe('System messages inside the conversation: joined to the system instruction, or user text between markers where they stand.'),
  schemas: z
    .enum(['json-schema', 'openapi'])
    .default('json-schema')
    .describe('`openapi`: the older fields `parameters` and `responseSchema`, which know a subset of OpenAPI; schemas are rewritten to fit.'),
  call_ids: z.boolean().default(true).describe('Calls and their results carry `id`. False: the field is refused, and the order tells results apart.'),
  tool_invocations: z
    .boolean()
    .default(true)
    .describe('`includeServerSideToolInvocations` is sent where native tools stand beside functions. False: the field is refused.'),
  validated_mode: z.boolean().default(true).describe('`strict` tools are asked for by the mode VALIDATED.'),
  thoughts: z.enum(['summary', 'text']).default('summary').describe('What thoughts of an answer become: a summary, or reasoning text.'),
  native_tools: z
    .array(z.enum(['web_search', 'code_interpreter']))
    .default(['web_search', 'code_interpreter'])
    .describe('Built-in tools of the request that this endpoint runs itself.'),
  file_uris: z
    .array(pattern)
    .default(['^gs://', '^https://generativelanguage\\.googleapis\\.com/.*files/', '^https?://(www\\.|m\\.)?(youtube\\.com|youtu\\.be)/'])
    .describe('Addresses the endpoint reads itself. Every other one is fetched and sent as data.'),
  service_tier: z.boolean().default(false).describe('`serviceTier` is known.'),
  service_tier_header: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .optional()
    .describe('The header that carries `flex` or `priority` where the body does not.'),
  labels: z.boolean().default(false).describe('`metadata` of the request is sent as billing labels.'),
  safety_settings: z.array(z.record(z.string(), z.unknown())).default([]).describe('Sent as `safetySettings`.'),
  extra_body: z.record(z.string(), z.unknown()).default({}).describe('Constant body fields; objects are merged one level deep.'),
  pass_through: z.array(z.string()).default([]).describe('Unknown fields of the request that may reach this endpoint, under their own name.'),
})

export type GeminiOptions = z.output<typeof geminiOptions>

/** Public name of thought signatures. */
export const REASONING_FORMAT = 'google-gemini-v1'
