import { expect, it } from 'vitest'
import { target } from './__fixtures__/harness.ts'
import type { TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

function encode(request: object, parts: TargetParts): { readonly body: { readonly [field: string]: unknown }; readonly dropped: readonly string[] } {
  const { body, dropped } = openAiResponses.encodeRequest({ input: [{ type: 'message', role: 'user', content: 'Hi' }], ...request }, target(parts))
  return { body: JSON.parse(body) as { readonly [field: string]: unknown }, dropped }
}

it('an empty stop sequence is not sent', () => {
  const sent = (stop: unknown): unknown => encode({ stop }, { supports: new Set(['stop']) }).body['stop']
  expect([sent('x'), sent(['x', '', 'y']), sent(''), sent([''])]).toEqual(['x', ['x', 'y'], undefined, undefined])
})

it('sampling parameters are sent to models that are asked to reason and cannot', () => {
  const options = { sampling_parameters: 'drop-when-reasoning' as const, reasoning_models: '^o\\d' }
  const parts: TargetParts = { supports: new Set(openAiResponses.supports.filter((name) => !name.includes('reasoning'))), options }
  const request = { temperature: 1, reasoning: { effort: 'high' } }
  expect(encode(request, { ...parts, upstreamModel: 'gpt-4.1' })).toMatchObject({ body: { temperature: 1 }, dropped: ['reasoning'] })
  expect(encode(request, { ...parts, upstreamModel: 'o3' }).dropped.toSorted()).toEqual(['reasoning', 'temperature'])
})
