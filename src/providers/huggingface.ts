import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

/** Inference Providers: ids may include the provider to use, `org/model:provider`. */
export const huggingface: Provider = {
  slug: 'huggingface',
  name: 'Hugging Face',
  env: { apiKey: ['HF_TOKEN', 'HUGGINGFACE_API_KEY'] },
  baseUrl: 'https://router.huggingface.co/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING },
  homepage: 'https://huggingface.co/docs/inference-providers',
  statusPage: 'https://status.huggingface.co',
  privacyPolicy: 'https://huggingface.co/privacy',
  termsOfService: 'https://huggingface.co/terms-of-service',
}
