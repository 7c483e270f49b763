import type { Provider } from '../core/provider.ts'
import { PARTIAL_RESPONSES } from './shared/partial-responses.ts'

export const deepseek: Provider = {
  slug: 'deepseek',
  name: 'DeepSeek',
  env: { apiKey: ['DEEPSEEK_API_KEY'] },
  baseUrl: 'https://api.deepseek.com/v1',
  dialect: 'openai-chat',
  options: {
    // It moves all system messages to the start, so that nothing after them is read from the cache.
    system_role: 'first-only',
    // A prefilled answer counts as history here; only the beta address continues it.
    prefill: false,
    max_stop_sequences: 16,
    json_schema: 'json-object',
    // It cannot build grammars from patterns that some engines do not support (`\\0`, lookahead).
    tool_bounds: 'patterns-described',
    reasoning_style: 'thinking-type',
    // Three of these are its own efforts; its documentation maps the others to them.
    reasoning_efforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    // "Thinking mode does not support this tool_choice", and the model thinks unless told not to.
    forced_tools: 'without-reasoning',
    // It refuses a turn with tool calls that comes back without its reasoning.
    reasoning_replay: 'reasoning_content',
    reasoning_replay_required: true,
    think_tags: 'none',
    audio: 'none',
    finish_reasons: { insufficient_system_resource: 'overloaded' },
  },
  dialectOptions: { 'openai-responses': PARTIAL_RESPONSES },
  models: {
    // Of version 3 only the newest release is served, as deepseek-chat and deepseek-reasoner.
    exclude: /^deepseek-v3/,
    // V4.1 serves these names, and it accepts pictures. The open weights of the same names accept text only.
    seeing: /^deepseek-v4-/,
  },
  homepage: 'https://www.deepseek.com',
  statusPage: 'https://status.deepseek.com',
  privacyPolicy: 'https://cdn.deepseek.com/policies/en-US/deepseek-privacy-policy.html',
}
