import type { Provider } from '../core/provider.ts'

/** Merges code edits. The user message contains <code> and <update>; the model is `auto` or an apply model. */
export const relace: Provider = {
  slug: 'relace',
  name: 'Relace',
  env: { apiKey: ['RELACE_API_KEY'] },
  baseUrl: 'https://instantapply.endpoint.relace.run/v1/apply',
  dialect: 'openai-chat',
  models: { unsupported: ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'structured_outputs'] },
  homepage: 'https://relace.ai',
}
