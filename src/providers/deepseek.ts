import type { Provider } from '../core/provider.ts'
import { PARTIAL_RESPONSES } from './shared/partial-responses.ts'

export const deepseek: Provider = {
  slug: 'deepseek',
  name: 'DeepSeek',
  env: { apiKey: ['DEEPSEEK_API_KEY'] },
  baseUrl: 'https://api.deepseek.com/v1',
  dialect: 'openai-chat',
  options: {
    // Its one system message stands first: it moves all others there, so that nothing behind them is read from the cache.
    system_role: 'first-only',
    // An answer begun is history here; only the beta address goes on with one.
    prefill: false,
    max_stop_sequences: 16,
    json_schema: 'json-object',
    // Of patterns with what some engines lack (`\\0`, looking ahead) it makes no grammar.
    tool_bounds: 'patterns-told',
    reasoning_style: 'thinking-type',
    // Three are its own; it says itself what the others come to.
    reasoning_efforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    // "Thinking mode does not support this tool_choice", and it thinks unless it is told not to.
    forced_tools: 'without-reasoning',
    // A turn with tool calls that comes back without its reasoning is refused.
    reasoning_replay: 'reasoning_content',
    reasoning_replay_required: true,
    think_tags: 'none',
    audio: 'none',
    finish_reasons: { insufficient_system_resource: 'overloaded' },
  },
  dialectOptions: { 'openai-responses': PARTIAL_RESPONSES },
  models: {
    // Of its third version only the newest is served, as deepseek-chat and deepseek-reasoner.
    exclude: /^deepseek-v3/,
    // They are served by V4.1, which sees. The open weights of the same names read text only.
    seeing: /^deepseek-v4-/,
  },
  homepage: 'https://www.deepseek.com',
  statusPage: 'https://status.deepseek.com',
  privacyPolicy: 'https://cdn.deepseek.com/policies/en-US/deepseek-privacy-policy.html',
}
