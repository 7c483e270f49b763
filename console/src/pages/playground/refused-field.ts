import type { Problems, Settings } from './body.ts'
import type { Run } from './run.ts'

const FIELDS: { readonly [member: string]: keyof Settings } = {
  model: 'model',
  models: 'models',
  instructions: 'instructions',
  temperature: 'temperature',
  max_output_tokens: 'maxOutputTokens',
  reasoning: 'effort',
  provider: 'provider',
  tools: 'tools',
}

/** The gateway's error next to the field it is about: `tools.0.type` belongs to the tools. */
export function refusedField({ phase, failure }: Run): Problems {
  const [member = ''] = failure?.path?.split(/[.[]/) ?? []
  const field = FIELDS[member]
  return phase !== 'refused' || field === undefined || failure === undefined ? {} : { [field]: failure.message }
}
