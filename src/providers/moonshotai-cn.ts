import type { Provider } from '../core/provider.ts'
import { KIMI_OPTIONS } from './shared/regional-options.ts'

/**
 * The Chinese platform. It has other keys and prices than the international one but shares its variable, so it is switched on in the configuration.
 */
export const moonshotaiCn: Provider = {
  slug: 'moonshotai-cn',
  name: 'Moonshot AI (China)',
  env: {},
  baseUrl: 'https://api.moonshot.cn/v1',
  dialect: 'openai-chat',
  options: KIMI_OPTIONS,
  priceProvider: 'moonshotai',
  models: { author: 'moonshotai' },
  homepage: 'https://platform.moonshot.cn',
}
