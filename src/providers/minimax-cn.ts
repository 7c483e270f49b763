import type { Provider } from '../core/provider.ts'
import { MINIMAX_OPTIONS } from './shared/regional-options.ts'

/**
 * The Chinese platform. It has other keys and prices than the international one but shares its variable, so it is switched on in the configuration.
 */
export const minimaxCn: Provider = {
  slug: 'minimax-cn',
  name: 'Minimax (China)',
  env: {},
  baseUrl: 'https://api.minimaxi.com/v1',
  dialect: 'openai-chat',
  options: MINIMAX_OPTIONS,
  priceProvider: 'minimax',
  models: { author: 'minimax', unsupported: ['response_format', 'structured_outputs'] },
  homepage: 'https://platform.minimaxi.com',
}
