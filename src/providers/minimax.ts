import type { Provider } from '../core/provider.ts'

export const minimax: Provider = {
  slug: 'minimax',
  name: 'Minimax',
  env: { apiKey: ['MINIMAX_API_KEY'] },
  baseUrl: 'https://api.minimax.io/v1',
  dialect: 'openai-chat',
  options: { system_role: 'system', extra_body: { reasoning_split: true }, reasoning_replay: 'reasoning_details', audio: 'none' },
  homepage: 'https://www.minimax.io',
}
