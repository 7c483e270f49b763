import { expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

const delta = (fields: object, finish: string | null = null): object => ({ choices: [{ index: 0, delta: fields, finish_reason: finish }] })

it.each([
  ['nothing before it', [], 'refusal'],
  ['reasoning before it', [delta({ reasoning_content: 'Hm.' })], 'refusal'],
  ['text before it', [delta({ content: 'Yes, but ' })], 'stop'],
  ['text and reasoning before it', [delta({ content: 'Yes, but ' }), delta({ reasoning_content: 'Hm.' })], 'stop'],
  ['text with sources before it', [{ citations: ['http://a'], ...delta({ content: 'Yes, but ' }) }], 'stop'],
])('a refusal with %s', (_what, before, reason) => {
  const decoder = new ChatDecoder({ input: [] }, chatTarget({}))
  const out: ModelEvent[] = []
  for (const frame of [...before, delta({ refusal: 'No.' }), delta({}, 'stop')]) decoder.push(JSON.stringify(frame), undefined, out)
  decoder.push('[DONE]', undefined, out)
  expect(out.at(-1)).toMatchObject({ type: 'response-end', reason, nativeReason: 'stop' })
})
