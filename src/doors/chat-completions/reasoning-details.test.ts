import { describe, expect, it } from 'vitest'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { toResponses } from './to-responses.ts'

function thoughtsIn(details: readonly object[] | string): readonly unknown[] {
  const { body } = toResponses({ messages: [{ role: 'assistant', content: 'Hi', reasoning_details: details }] })
  return decodeResponsesRequest(body, {}).input.filter((item) => (item as { type?: string }).type === 'reasoning')
}

describe('the format of reasoning that is sent back', () => {
  it.each([
    ['as it was told', 'anthropic-claude-v1', 'anthropic-claude-v1'],
    ['added up like text, as some clients add up all words of a stream', 'unknownunknownunknown', undefined],
    ["another gateway's", 'acme-v1', undefined],
  ])('%s', (_case, told, read) => {
    const content = [{ type: 'reasoning_text', text: 'Hm.' }]
    const [item] = thoughtsIn([{ type: 'reasoning.text', text: 'Hm.', format: told, index: 0 }]) as readonly { readonly format?: string }[]
    expect(item).toMatchObject({ content })
    expect(item!.format).toBe(read)
  })

  it('is unknown where none was given', () => {
    expect(thoughtsIn([{ type: 'reasoning.text', text: 'Hm.', format: null, index: 0 }])).toEqual([
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    ])
  })
})

it('reasoning sent back as one text is read, for clients that have a field for text only', () => {
  expect(thoughtsIn('Hm.')).toEqual([{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] }])
  expect(thoughtsIn('')).toEqual([])
})
