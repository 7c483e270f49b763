import type { Provider } from '../core/provider.ts'

export const minimax: Provider = {
  slug: 'minimax',
  name: 'Minimax',
  env: { apiKey: ['MINIMAX_API_KEY'] },
  baseUrl: 'https://api.minimax.io/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    // Above zero and up to one; others are errors.
    min_temperature: 0.01,
    max_temperature: 1,
    extra_body: { reasoning_split: true },
    // They think as much as they find right, and only since M3 can they be told not to.
    models: [
      { match: '-[Mm](?:[3-9]|\\d\\d)', reasoning_style: 'effort', reasoning_efforts: [], off: 'thinking-type' },
      { match: '-[Mm][12]', reasoning_style: 'effort', reasoning_efforts: [] },
    ],
    reasoning_replay: 'reasoning_details',
    audio: 'none',
  },
  // Formats are passed over in silence, or taken and not kept to.
  models: { unsupported: ['response_format', 'structured_outputs'] },
  homepage: 'https://www.minimax.io',
}
