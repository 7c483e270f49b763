import { expect, it } from 'vitest'
import type { Dialect, Target } from '../core/dialect.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import { messagesTarget } from './anthropic-messages/__fixtures__/target.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import { bedrockTarget } from './bedrock-converse/__fixtures__/target.ts'
import { bedrockConverse } from './bedrock-converse/index.ts'
import { chatTarget } from './openai-chat/__fixtures__/target.ts'
import { openAiChat } from './openai-chat/index.ts'

/** What an upstream answers that calls one tool, in its format. */
type Answer = (name: string) => object

const chat: Answer = (name) => ({
  choices: [{ message: { tool_calls: [{ id: 'c', function: { name, arguments: '{"q":1}' } }] }, finish_reason: 'tool_calls' }],
})
const messages: Answer = (name) => ({ content: [{ type: 'tool_use', id: 'c', name, input: { q: 1 } }], stop_reason: 'tool_use' })
const converse: Answer = (name) => ({
  output: { message: { content: [{ toolUse: { toolUseId: 'c', name, input: { q: 1 } } }] } },
  stopReason: 'tool_use',
})

const request: ModelRequest = {
  input: [{ type: 'message', role: 'user', content: 'q' }],
  tools: [{ type: 'function', name: 'structured_answer' }],
  text: { format: { type: 'json_schema', name: 'o', schema: { type: 'object', properties: {} } } },
}

function calling<Options>(dialect: Dialect<Options>, target: Target<Options>, answer: Answer, asked: ModelRequest): ModelEvent[] {
  const [, name = ''] = /"name":"(structured_answer\w*)"/.exec(dialect.encodeRequest(asked, target).body) ?? []
  expect(name).not.toBe('structured_answer')
  const out: ModelEvent[] = []
  dialect.decoder(asked, target).body(JSON.stringify(answer(name)), out)
  return out
}

it.each<[string, (asked: ModelRequest) => ModelEvent[]]>([
  ['openai-chat', (asked) => calling(openAiChat, chatTarget({ options: { json_schema: 'tool' } }), chat, asked)],
  ['anthropic-messages', (asked) => calling(anthropicMessages, messagesTarget({ options: { json_schema: 'tool' } }), messages, asked)],
  ['bedrock-converse', (asked) => calling(bedrockConverse, bedrockTarget({ options: { json_schema: 'tool' } }), converse, asked)],
])('%s: a tool of the caller named like the hidden answer tool is still the caller’s', (_name, run) => {
  for (const asked of [request, { ...request, tool_choice: 'required' as const }])
    expect(run(asked)).toContainEqual(expect.objectContaining({ type: 'item-start', item: expect.objectContaining({ name: 'structured_answer' }) }))
})
