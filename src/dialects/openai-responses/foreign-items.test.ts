import { expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import { target } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'
import { encodeResponsesRequest } from './request.ts'

const ran = (container_id: string): InputItem => ({
  type: 'code_interpreter_call',
  id: 'ci_1',
  status: 'completed',
  code: '1',
  container_id,
  outputs: null,
})
const encode = (input: readonly InputItem[]): { readonly input: unknown; readonly dropped: readonly string[] } => {
  const { body, dropped } = encodeResponsesRequest({ input }, target())
  return { input: (JSON.parse(body) as { input: unknown }).input, dropped }
}

it('code that another format ran is left out, because its container does not exist here', () => {
  const own = ['cntr_1', 'container-7f', '0b9c2d1e-1111-4222-8333-944445555666', ''].map(ran)
  expect(encode(own)).toEqual({ input: own, dropped: [] })
  for (const name of ['code_execution', 'code_execution:e1', 'acme_code_interpreter'])
    expect(encode([ran(name)])).toEqual({ input: [], dropped: ['input: code_interpreter_call of another endpoint'] })
  const long = [ran(`a${'_a'.repeat(4_000_000)}1`)]
  expect(encode(long)).toEqual({ input: long, dropped: [] })
})

it('an image that the gateway generated is sent in the fields of the format', () => {
  const made = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'aW1n', revised_prompt: 'a red fox' }
  const own = { ...made, prompt: 'a fox', imageB64: 'aW1n', imageUrl: 'https://images.example/1.png', revisedPrompt: 'a red fox', error: 'none' }
  expect(encode([own as InputItem])).toEqual({ input: [made], dropped: [] })
  expect(encode([made as InputItem]).input).toEqual([made])
  const failed = { type: 'image_generation_call', id: 'ig_2', status: 'failed', result: '' }
  expect(encode([failed as InputItem]).input).toEqual([{ ...failed, result: null }])
})

it('an image of which only the address is known is left out, as this format has a place for its bytes alone', () => {
  const made = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'https://images.example/1.png' }
  expect(encode([made as InputItem])).toEqual({ input: [], dropped: ['input: image_generation_call of another endpoint'] })
})

it('an image item with another id gets one that the format accepts, with the prefix of its type', () => {
  const made = { type: 'image_generation_call', status: 'completed', result: 'aW1n' }
  expect(encode([{ ...made, id: 'st_abc' }]).input).toEqual([{ ...made, id: 'ig_abc' }])
  expect(encode([{ ...made, id: 'abc' }]).input).toEqual([{ ...made, id: 'ig_abc' }])
  expect(
    encode([
      { ...made, id: 'ig_abc' },
      { ...made, id: 'ig-abc' },
    ]).input,
  ).toEqual([
    { ...made, id: 'ig_abc' },
    { ...made, id: 'ig-abc' },
  ])
})

it.each([[true], [false], [['web_search']], [['compaction']]])(
  'a request to compact is sent to endpoints that are said to know it: %j',
  (builtin_tools) => {
    const at = target({ options: { builtin_tools } })
    const { body } = encodeResponsesRequest({ input: [{ type: 'compaction_trigger' }] }, at)
    expect(body.includes('compaction_trigger')).toBe(openAiResponses.compacts?.(at))
  },
)
