import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

export const ovhcloud: Provider = {
  slug: 'ovhcloud',
  name: 'OVHcloud',
  env: { apiKey: ['OVHCLOUD_API_KEY', 'OVH_AI_ENDPOINTS_ACCESS_TOKEN'] },
  baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://www.ovhcloud.com/en/public-cloud/ai-endpoints/',
}
