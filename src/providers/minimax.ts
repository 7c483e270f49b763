import type { Provider } from '../core/provider.ts'

export const minimax: Provider = {
  slug: 'minimax',
  name: 'Minimax',
  env: { apiKey: ['MINIMAX_API_KEY'] },
  baseUrl: 'https://api.minimax.io/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    extra_body: { reasoning_split: true },
    // They think as much as they find right, and only since M3 can they be told not to.
    models: [
      { match: '-[Mm](?:[3-9]|\\d\\d)', reasoning_style: 'effort', reasoning_efforts: [], off: 'thinking-type' },
      { match: '-[Mm][12]', reasoning_style: 'effort', reasoning_efforts: [] },
    ],
    reasoning_replay: 'reasoning_details',
    audio: 'none',
  },
  homepage: 'https://www.minimax.io',
}
