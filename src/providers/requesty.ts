import type { Provider } from '../core/provider.ts'

export const requesty: Provider = {
  slug: 'requesty',
  name: 'Requesty',
  env: { apiKey: ['REQUESTY_API_KEY'] },
  baseUrl: 'https://router.requesty.ai/v1',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort' },
  homepage: 'https://requesty.ai',
}
