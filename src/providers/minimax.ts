import type { Provider } from '../core/provider.ts'
import { MINIMAX_OPTIONS } from './shared/regional-options.ts'

export const minimax: Provider = {
  slug: 'minimax',
  name: 'Minimax',
  env: { apiKey: ['MINIMAX_API_KEY'] },
  baseUrl: 'https://api.minimax.io/v1',
  dialect: 'openai-chat',
  options: MINIMAX_OPTIONS,
  // Response formats are silently ignored, or accepted and not followed.
  models: { unsupported: ['response_format', 'structured_outputs'] },
  homepage: 'https://www.minimax.io',
}
