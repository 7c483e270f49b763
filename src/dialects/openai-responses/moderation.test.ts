import { expect, it } from 'vitest'
import { decode, decodeBody } from './__fixtures__/harness.ts'

const found = { type: 'moderation_result', model: 'omni', flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } }
const moderation = { input: found, output: { type: 'error', code: 'unavailable', message: 'Not now' } }
const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
const answer = (fields: object): object => ({ id: 'r', status: 'completed', output: [message], ...fields })

it('tells what the vendor found in prompt and answer', () => {
  expect(decodeBody(answer({ moderation })).events.at(-1)).toMatchObject({ type: 'response-end', stopped: { moderation } })
  const { events } = decode([{ type: 'response.completed', response: answer({ moderation }) }])
  expect(events.at(-1)).toMatchObject({ type: 'response-end', stopped: { moderation } })
})

it('tells it of an answer that the vendor cut off, too', () => {
  const { events } = decodeBody(answer({ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, moderation }))
  expect(events.at(-1)).toMatchObject({ reason: 'content_filter', stopped: { moderation } })
})

it('tells nothing where nobody looked', () => {
  for (const nothing of [{}, { moderation: null }]) expect(decodeBody(answer(nothing)).events.at(-1)).not.toHaveProperty('stopped')
})
