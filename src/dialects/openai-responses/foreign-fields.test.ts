import { expect, it } from 'vitest'
import { target } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

/** Fields of the Chat Completions format, for which vendors of this format refuse a call. */
function encode(fields: object): { readonly body: { readonly [field: string]: unknown }; readonly dropped: readonly string[] } {
  const { body, dropped } = openAiResponses.encodeRequest({ input: [], ...fields }, target())
  return { body: JSON.parse(body) as { readonly [field: string]: unknown }, dropped }
}

it('fields whose effect is the default are ignored', () => {
  const { body, dropped } = encode({ usage: { include: true }, include_reasoning: true })
  expect(Object.keys(body).toSorted()).toEqual(['input', 'model', 'store', 'stream'])
  expect(dropped).toEqual([])
})

it.each([
  [true, ['reasoning.exclude']],
  [false, []],
])('reasoning.exclude: %s is left out, and reported where it had an effect', (exclude, reported) => {
  const { body, dropped } = encode({ reasoning: { effort: 'low', exclude } })
  expect(body['reasoning']).toEqual({ effort: 'low' })
  expect(dropped).toEqual(reported)
})

it('the location and speed options of another vendor are left out, and the location is reported', () => {
  const { body, dropped } = encode({ inference_geo: 'us', speed: 'fast' })
  expect(body).not.toHaveProperty('inference_geo')
  expect(body).not.toHaveProperty('speed')
  expect(dropped).toEqual(['inference_geo'])
})

it('the safety options of other vendors, which some of their clients send with every call, are left out and reported', () => {
  const { body, dropped } = encode({ safetySettings: [], safe_prompt: false })
  expect(body).not.toHaveProperty('safetySettings')
  expect(body).not.toHaveProperty('safe_prompt')
  expect(dropped).toEqual(['safetySettings', 'safe_prompt'])
})

it('examples of the input of a tool are added to its description', () => {
  const tool = { type: 'function', name: 'f', parameters: { type: 'object' }, input_examples: [{ a: 1 }] }
  const { body } = encode({ tools: [tool] })
  expect(body['tools']).toEqual([
    { type: 'function', name: 'f', description: 'Examples of its input:\n{"a":1}', parameters: expect.anything() as unknown },
  ])
})

it('fields of ours in another case, which some servers take for the field itself, are left out', () => {
  const disguised = { Model: 'large', STORE: true, Max_Output_Tokens: 9, previous_Response_id: 'r', '\u017Ftream': false, Temperature: 1 }
  const { body, dropped } = encode({ ...disguised, Own: 1 })
  expect(Object.keys(body).toSorted()).toEqual(['Own', 'input', 'model', 'store', 'stream'])
  expect(dropped).toEqual(Object.keys(disguised))
})
