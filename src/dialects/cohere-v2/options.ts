import { z } from 'zod'
import { compiled, pattern } from '../shared/pattern.ts'

/** Differences between endpoints of this format. What depends on the model is declared by patterns for its id. */
export const cohereV2Options = z.strictObject({
  path: z.string().startsWith('/').default('/chat').describe('Appended to the base URL.'),
  vision_models: pattern.default('vision|command-a-plus').describe('Models that read images.'),
  reasoning_models: pattern.default('reasoning|command-a-plus').describe('Models that think and accept `thinking`.'),
  reasoning_replay: z
    .enum(['none', 'plan', 'all'])
    .default('all')
    .describe('What is sent back of earlier turns with tool calls, to the endpoint that wrote them: nothing, the plan, or also the thoughts.'),
  tool_result_documents: z
    .boolean()
    .default(true)
    .describe('Whether tool results that are JSON lists of objects become one document per object, which answers can cite.'),
  strict_tools: z.boolean().default(false).describe('Whether `strict_tools` is sent if every tool is strict.'),
  schema_with_tools: z
    .boolean()
    .default(false)
    .describe('Whether a response format may be combined with tools and documents. If not, the prompt asks for it.'),
  max_temperature: z.number().positive().default(1).describe('Higher temperatures are lowered to this.'),
  safety_mode: z.enum(['CONTEXTUAL', 'STRICT', 'OFF']).optional().describe('Sent as `safety_mode`.'),
  citation_mode: z.enum(['FAST', 'ACCURATE', 'OFF']).optional().describe('`citation_options.mode`.'),
})

export type CohereV2Options = z.output<typeof cohereV2Options>

/** Whether a pattern of the options matches a model's id. */
export function matchesModel(source: string, model: string): boolean {
  return compiled(source, 'i').test(model)
}
