import { z } from 'zod'
import { compiled, pattern } from '../shared/pattern.ts'

/** How endpoints of this format differ. What depends on the model is told by patterns on its id. */
export const cohereV2Options = z.strictObject({
  path: z.string().startsWith('/').default('/chat').describe('Appended to the base URL.'),
  vision_models: pattern.default('vision|command-a-plus').describe('Models that read images.'),
  reasoning_models: pattern.default('reasoning|command-a-plus').describe('Models that think, and take `thinking`.'),
  reasoning_replay: z
    .enum(['none', 'plan', 'all'])
    .default('all')
    .describe('What of earlier turns with tool calls goes back to the endpoint that wrote it: nothing, the plan, or thoughts too.'),
  tool_result_documents: z
    .boolean()
    .default(true)
    .describe('Results that are JSON lists of objects become documents, one each, which answers can cite.'),
  strict_tools: z.boolean().default(false).describe('Send `strict_tools` when every tool is strict.'),
  schema_with_tools: z
    .boolean()
    .default(false)
    .describe('A response format is taken beside tools and documents; else it is asked for in the prompt.'),
  max_temperature: z.number().positive().default(1).describe('Higher temperatures are lowered to this.'),
  safety_mode: z.enum(['CONTEXTUAL', 'STRICT', 'OFF']).optional(),
  citation_mode: z.enum(['FAST', 'ACCURATE', 'OFF']).optional().describe('`citation_options.mode`.'),
})

export type CohereV2Options = z.output<typeof cohereV2Options>

/** Whether a pattern of the options matches a model's id. */
export function matchesModel(source: string, model: string): boolean {
  return compiled(source, 'i').test(model)
}
