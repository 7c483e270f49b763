import { describe, expect, it } from 'vitest'
import type { Dialect, Target } from '../core/dialect.ts'
import type { Parameter } from '../core/capability.ts'
import type { ModelRequest } from '../core/request.ts'
import { embeddingDialects } from './embeddings/index.ts'
import { answerDialects } from './index.ts'

/** Nothing a caller asks for is lost without a word: a parameter changes what the endpoint is sent, or is named as dropped. */

const INPUT: ModelRequest = { input: [{ type: 'message', role: 'user', content: 'hi' }] }
const TOOL = {
  type: 'function',
  name: 'f',
  description: 'd',
  parameters: { type: 'object', properties: { a: { type: 'string' } } },
  strict: false,
} as const
const WITH_TOOL: ModelRequest = { ...INPUT, tools: [TOOL] }
const THINKING: ModelRequest = { ...INPUT, reasoning: { effort: 'low' } }

type Case = readonly [name: string, added: { readonly [field: string]: unknown }, to?: ModelRequest]

const CASES: readonly Case[] = [
  ['instructions', { instructions: 'Be brief.' }],
  ['tools', { tools: [TOOL] }],
  ['tools of the vendor', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
  ['tool_choice: required', { tool_choice: 'required' }, WITH_TOOL],
  ['tool_choice: none', { tool_choice: 'none' }, WITH_TOOL],
  ['tool_choice: a tool', { tool_choice: { type: 'function', name: 'f' } }, WITH_TOOL],
  ['parallel_tool_calls', { parallel_tool_calls: false }, WITH_TOOL],
  ['max_output_tokens', { max_output_tokens: 777 }],
  ['temperature', { temperature: 0.3 }],
  ['top_p', { top_p: 0.3 }],
  ['top_p beside temperature', { top_p: 0.3 }, { ...INPUT, temperature: 0.3 }],
  ['top_k', { top_k: 3 }],
  ['min_p', { min_p: 0.3 }],
  ['top_a', { top_a: 0.3 }],
  ['presence_penalty', { presence_penalty: 0.3 }],
  ['frequency_penalty', { frequency_penalty: 0.3 }],
  ['repetition_penalty', { repetition_penalty: 1.3 }],
  ['seed', { seed: 5 }],
  ['stop', { stop: ['x'] }],
  ['logit_bias', { logit_bias: { 5: 1 } }],
  ['top_logprobs', { top_logprobs: 3 }],
  ['include: log probabilities', { include: ['message.output_text.logprobs'] }],
  ['prediction', { prediction: { type: 'content', content: 'x' } }],
  ['web_search_options', { web_search_options: { search_context_size: 'low' } }],
  ['reasoning.effort', { reasoning: { effort: 'high' } }],
  ['reasoning.max_tokens', { reasoning: { max_tokens: 2_000 } }],
  ['reasoning.enabled', { reasoning: { enabled: true } }],
  ['reasoning.context', { reasoning: { effort: 'low', context: 'all_turns' } }, THINKING],
  ['reasoning.mode', { reasoning: { effort: 'low', mode: 'pro' } }, THINKING],
  ['a new member of reasoning', { reasoning: { effort: 'low', depth: 3 } }, THINKING],
  ['text.verbosity', { text: { verbosity: 'low' } }],
  ['text.format: json_object', { text: { format: { type: 'json_object' } } }],
  ['text.format: json_schema', { text: { format: { type: 'json_schema', name: 'n', schema: TOOL.parameters } } }],
  ['a new member of text', { text: { tone: 'dry' } }],
  ['background', { background: true }],
  ['truncation', { truncation: 'auto' }],
  ['service_tier', { service_tier: 'flex' }],
  ['user', { user: 'u1' }],
  ['safety_identifier', { safety_identifier: 's1' }],
  ['safety_identifier beside user', { safety_identifier: 's1' }, { ...INPUT, user: 'u1' }],
  ['user beside safety_identifier', { user: 'u1' }, { ...INPUT, safety_identifier: 's1' }],
  ['metadata', { metadata: { a: 'b' } }],
  ['prompt', { prompt: { id: 'x' } }],
  ['prompt_cache_retention', { prompt_cache_retention: '24h' }],
  ['modalities', { modalities: ['text', 'image'] }],
  ['image_config', { image_config: { aspect_ratio: '1:1' } }, { ...INPUT, modalities: ['text', 'image'] }],
  ['inference_geo', { inference_geo: 'us' }],
  ['a new parameter', { tone: 'dry' }],
]

const ALL: readonly Parameter[] = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'top_a',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'logit_bias',
  'prediction',
  'web_search_options',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'verbosity',
  'logprobs',
  'top_logprobs',
]

const MODELS: { readonly [dialect: string]: readonly string[] } = {
  'anthropic-messages': ['claude-sonnet-4-5', 'claude-opus-4-8', 'claude-3-5-haiku-20241022'],
  'anthropic-invoke': ['anthropic.claude-sonnet-4-5-v1:0'],
  'bedrock-converse': ['anthropic.claude-sonnet-4-5-v1:0', 'amazon.nova-pro-v1:0', 'meta.llama3-3-70b-instruct-v1:0', 'openai.gpt-oss-120b'],
  'cohere-v2': ['command-a-03-2025', 'command-a-reasoning-08-2025'],
  gemini: ['gemini-2.5-flash', 'gemini-3-pro', 'gemini-2.0-flash'],
  'openai-chat': ['small-1'],
  'openai-responses': ['small-1'],
}

const targetOf = (dialect: Dialect, upstreamModel: string): Target => ({
  provider: 'acme',
  providerName: 'Acme',
  upstreamModel,
  options: dialect.options.parse({}),
  supports: new Set(ALL),
  contextLength: 128_000,
  scope: 'acme',
  stream: true,
})

const endpoints = answerDialects.flatMap((dialect) => MODELS[dialect.name]!.map((model) => ({ dialect, model, name: dialect.name })))

describe.each(endpoints)('$name, $model', ({ dialect, model }) => {
  const sent = (request: ModelRequest) => dialect.encodeRequest(request, targetOf(dialect, model))
  it.each(CASES.map(([name, added, to = INPUT]) => ({ name, added, to })))('$name is sent or named', ({ added, to }) => {
    expect(sent({ ...to, ...added })).not.toEqual(sent(to))
  })
})

describe.each(embeddingDialects as readonly unknown[] as readonly Dialect[])('$name', (dialect) => {
  const sent = (request: ModelRequest) => dialect.encodeRequest({ ...INPUT, ...request, modalities: ['embeddings'] }, targetOf(dialect, 'small-1'))
  it.each<[string, object]>([
    ['dimensions', { dimensions: 8 }],
    ['input_type', { input_type: 'search_query' }],
    ['a new parameter', { truncate: 'END' }],
  ])('%s is sent or named', (_name, added) => {
    expect(sent({ ...INPUT, ...added })).not.toEqual(sent(INPUT))
  })
})
