import type { Provider } from '../core/provider.ts'
import { CLAUDE_OPTIONS } from './shared/claude.ts'
import { signWithHeader } from './shared/sign.ts'

export const anthropic: Provider = {
  slug: 'anthropic',
  name: 'Anthropic',
  env: { apiKey: ['ANTHROPIC_API_KEY'] },
  baseUrl: 'https://api.anthropic.com/v1',
  dialect: 'anthropic-messages',
  options: {
    ...CLAUDE_OPTIONS,
    service_tier: true,
    web_search_tool: 'web_search_20250305',
    native_tools: ['^(?:bash|code_execution|computer|memory|text_editor|web_fetch|web_search|tool_search_tool_(?:bm25|regex))_\\d{8}$'],
    // Its answers say at what speed and where they were made.
    surcharges: [
      { match: 'opus-4[.-][67](?!\\d)', field: 'speed', value: 'fast', factor: 6 },
      { field: 'speed', value: 'fast', factor: 2 },
      { field: 'inference_geo', value: 'us', factor: 1.1 },
    ],
    pass_through: ['container', 'context_management', 'inference_geo', 'mcp_servers', 'speed'],
  },
  homepage: 'https://www.anthropic.com',
  statusPage: 'https://status.anthropic.com',
  privacyPolicy: 'https://www.anthropic.com/legal/privacy',
  termsOfService: 'https://www.anthropic.com/legal/commercial-terms',
  connect: () => ({ sign: signWithHeader('x-api-key') }),
}
