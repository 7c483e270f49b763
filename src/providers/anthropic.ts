import type { Provider } from '../core/provider.ts'
import { CLAUDE_OPTIONS_OWN } from './shared/claude.ts'
import { signWithHeader } from './shared/sign.ts'

/**
 * https://platform.claude.com/docs/en/api/beta-headers: without these headers the fields fail with "Extra inputs are not permitted", and so do tools
 * of unknown types.
 */
const BETAS = [
  { field: 'speed', match: 'fast', betas: ['fast-mode-2026-02-01'] },
  { field: 'mcp_servers', betas: ['mcp-client-2025-04-04'] },
  { field: 'context_management', betas: ['context-management-2025-06-27'] },
  { field: 'context_management', match: '"compact_20260112"', betas: ['compact-2026-01-12'] },
  { field: 'container', match: '"skills"', betas: ['code-execution-2025-08-25', 'skills-2025-10-02'] },
  { field: 'thinking', match: '"block_binding"', betas: ['thinking-binding-controls-2026-08-01'] },
  { field: 'tools', match: '\\bcomputer_20251124\\b', betas: ['computer-use-2025-11-24'] },
  { field: 'tools', match: '\\bcomputer_20250124\\b', betas: ['computer-use-2025-01-24'] },
  { field: 'tools', match: '_20241022\\b', betas: ['computer-use-2024-10-22'] },
]

/**
 * Beta features that callers may switch on: limits and modes of thinking and streaming, whose answers are parsed like any other's. Features tied to a
 * field are switched on by that field. Features that bring unknown kinds of content blocks stay off.
 */
const CALLER_BETAS = [
  '^context-1m-',
  '^context-management-',
  '^extended-cache-ttl-',
  '^fine-grained-tool-streaming-',
  '^interleaved-thinking-',
  '^output-(?:128k|300k)-',
  '^token-efficient-tools-',
]

export const anthropic: Provider = {
  slug: 'anthropic',
  name: 'Anthropic',
  env: { apiKey: ['ANTHROPIC_API_KEY'] },
  baseUrl: 'https://api.anthropic.com/v1',
  dialect: 'anthropic-messages',
  options: {
    ...CLAUDE_OPTIONS_OWN,
    service_tier: true,
    web_search_tool: 'web_search_20250305',
    native_tools: [
      '^(?:bash|(?:browser|computer)_toolset|code_execution|computer|memory|text_editor|web_fetch|web_search|tool_search_tool_(?:bm25|regex))_\\d{8}$',
    ],
    field_betas: BETAS,
    caller_betas: CALLER_BETAS,
    // The answers report their speed and where they were made.
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
