import type { Provider } from '../core/provider.ts'
import { ALWAYS_REASONING } from './shared/gpt.ts'

/** GITHUB_TOKEN is not read, because continuous integration sets it everywhere, and it would switch on this provider unasked. */
export const githubModels: Provider = {
  slug: 'github-models',
  name: 'GitHub Models',
  env: { apiKey: ['GITHUB_API_KEY'] },
  baseUrl: 'https://models.github.ai/inference',
  dialect: 'openai-chat',
  options: { reasoning_style: 'effort', models: ALWAYS_REASONING, optional_members: 'refused' },
  homepage: 'https://docs.github.com/en/github-models',
  statusPage: 'https://www.githubstatus.com',
  privacyPolicy: 'https://docs.github.com/en/site-policy/privacy-policies/github-general-privacy-statement',
}
