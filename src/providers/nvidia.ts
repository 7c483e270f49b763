import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'
import { questionsAnd } from './shared/input-types.ts'

export const nvidia: Provider = {
  slug: 'nvidia',
  name: 'Nvidia',
  env: { apiKey: ['NVIDIA_API_KEY'] },
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  dialect: 'openai-chat',
  // The models' chat templates read the switch, according to the model cards.
  options: { reasoning_style: 'template-kwargs', models: ALWAYS_REASONING },
  dialectOptions: {
    'openai-embeddings': {
      input_types: questionsAnd('passage'),
      // "'input_type' parameter is required for asymmetric models", which most models are.
      input_type: 'passage',
    },
  },
  homepage: 'https://build.nvidia.com',
  privacyPolicy: 'https://www.nvidia.com/en-us/about-nvidia/privacy-policy/',
}
