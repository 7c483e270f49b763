import type { Provider } from '../core/provider.ts'

export const nvidia: Provider = {
  slug: 'nvidia',
  name: 'Nvidia',
  env: { apiKey: ['NVIDIA_API_KEY'] },
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  dialect: 'openai-chat',
  homepage: 'https://build.nvidia.com',
  privacyPolicy: 'https://www.nvidia.com/en-us/about-nvidia/privacy-policy/',
}
