import type { Provider } from '../core/provider.ts'

export const xiaomi: Provider = {
  slug: 'xiaomi',
  name: 'Xiaomi',
  env: { apiKey: ['XIAOMI_API_KEY', 'XIAOMI_MIMO_API_KEY'] },
  baseUrl: 'https://api.xiaomimimo.com/v1',
  dialect: 'openai-chat',
  options: { system_role: 'system', reasoning_style: 'thinking-type', reasoning_replay: 'reasoning_content', think_tags: 'none' },
  homepage: 'https://platform.xiaomimimo.com',
}
