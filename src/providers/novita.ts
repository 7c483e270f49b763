import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const novita: Provider = {
  slug: 'novita',
  name: 'Novita',
  env: { apiKey: ['NOVITA_API_KEY'] },
  baseUrl: 'https://api.novita.ai/openai/v1',
  dialect: 'openai-chat',
  // https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion
  options: {
    models: [...ALWAYS_REASONING.map((rule) => ({ ...rule, reasoning_style: 'effort' })), { match: '.', reasoning_style: 'enable-thinking' }],
    thinking_budget: false,
    reasoning_replay: 'reasoning_content',
  },
  homepage: 'https://novita.ai',
  privacyPolicy: 'https://novita.ai/legal/privacy-policy',
}
