import { z } from 'zod'
import { MODEL_RULES, traitFields, traitRule } from './model-traits.ts'

const traits = z.strictObject(traitFields).partial()

/** Differences between endpoints of this format. What depends on the model comes from `model_rules`; options of the same name override it. */
export const bedrockConverseOptions = z.strictObject({
  ...traits.shape,
  model_rules: z
    .array(traitRule)
    .default([...MODEL_RULES])
    .describe(
      'What models can do, by a pattern for the upstream id. Later rules override earlier ones; options of the same name override all rules.',
    ),
  model_behind: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Id of the model, if the upstream id does not name it, as for the ARN of an application inference profile. The rules for this model apply.',
    ),
  guardrail: z
    .strictObject({
      guardrailIdentifier: z.string(),
      guardrailVersion: z.string(),
      trace: z.enum(['enabled', 'disabled', 'enabled_full']).optional(),
      streamProcessingMode: z.enum(['sync', 'async']).optional(),
    })
    .optional()
    .describe('A guardrail of the account for every call.'),
  forward_metadata: z
    .boolean()
    .default(false)
    .describe("The caller's `metadata` becomes `requestMetadata`, which the account's invocation logs show."),
  latency: z.enum(['standard', 'optimized']).optional().describe('`performanceConfig.latency`.'),
  betas: z.array(z.string()).default([]).describe('Beta features in `additionalModelRequestFields.anthropic_beta`.'),
  extra_fields: z.record(z.string(), z.unknown()).default({}).describe('Constant `additionalModelRequestFields`.'),
  response_field_paths: z.array(z.string()).default([]).describe('`additionalModelResponseFieldPaths`.'),
})

export type BedrockConverseOptions = z.output<typeof bedrockConverseOptions>
