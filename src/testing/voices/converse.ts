import { awsEvent } from '../aws-frames.ts'
import { both, defined, list, object, type Json, type SeenTurn, type VendorVoice } from './voice.ts'

const CONVERSE_USAGE = { inputTokens: 20, cacheReadInputTokens: 10, cacheWriteInputTokens: 0, outputTokens: 12, totalTokens: 42 }

export const converse: VendorVoice = {
  dialect: 'bedrock-converse',
  model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  options: {},
  contentType: 'application/vnd.amazon.eventstream',
  stream({ reasoning, text, calls = [] }) {
    const frames = [awsEvent('messageStart', { role: 'assistant', p: 'abc' })]
    let contentBlockIndex = 0
    const block = (deltas: readonly object[], start?: object): void => {
      if (start !== undefined) frames.push(awsEvent('contentBlockStart', { contentBlockIndex, start }))
      for (const delta of deltas) frames.push(awsEvent('contentBlockDelta', { contentBlockIndex, delta, p: 'abcdef' }))
      frames.push(awsEvent('contentBlockStop', { contentBlockIndex: contentBlockIndex++ }))
    }
    if (reasoning !== undefined) block([{ reasoningContent: { text: reasoning.text } }, { reasoningContent: { signature: reasoning.secret } }])
    if (text !== undefined) block(both(text).map((piece) => ({ text: piece })))
    for (const call of calls)
      block(
        both(call.arguments).map((input) => ({ toolUse: { input } })),
        { toolUse: { toolUseId: call.id, name: call.name } },
      )
    return [
      ...frames,
      awsEvent('messageStop', { stopReason: calls.length > 0 ? 'tool_use' : 'end_turn' }),
      awsEvent('metadata', { usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } }),
    ]
  },
  json: ({ reasoning, text, calls = [] }) =>
    JSON.stringify({
      output: {
        message: {
          role: 'assistant',
          content: defined<Json>(
            reasoning === undefined ? undefined : { reasoningContent: { reasoningText: { text: reasoning.text, signature: reasoning.secret } } },
            text === undefined ? undefined : { text },
            ...calls.map((call) => ({ toolUse: { toolUseId: call.id, name: call.name, input: JSON.parse(call.arguments) as unknown } })),
          ),
        },
      },
      stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: CONVERSE_USAGE,
    }),
  turns: (body) =>
    list(body['messages']).map((message): SeenTurn => {
      const ids = (field: string): string[] =>
        list(message['content']).flatMap((block) => (block[field] === undefined ? [] : [String(object(block[field])['toolUseId'])]))
      return { role: message['role'] === 'assistant' ? 'assistant' : 'user', calls: ids('toolUse'), results: ids('toolResult') }
    }),
  returnsSecret: true,
  tiers: { flex: 'flex', priority: 'priority' },
  tier: (body) => object(body['serviceTier'])['type'],
}
