import type { Provider } from '../core/provider.ts'

export const vercel: Provider = {
  slug: 'vercel',
  name: 'Vercel AI Gateway',
  env: { apiKey: ['AI_GATEWAY_API_KEY'] },
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  dialect: 'openai-chat',
  options: {
    system_role: 'system',
    strict_tools: true,
    reasoning_style: 'reasoning-object',
    reasoning_replay: 'reasoning_details',
    reasoning_replay_turns: 'all',
    file: 'file',
    cache_breakpoints: true,
    image_output: true,
  },
  homepage: 'https://vercel.com/ai-gateway',
  statusPage: 'https://www.vercel-status.com',
  privacyPolicy: 'https://vercel.com/legal/privacy-policy',
}
