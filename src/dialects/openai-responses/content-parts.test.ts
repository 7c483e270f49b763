import { expect, it } from 'vitest'
import { decode, decodeBody, fold } from './__fixtures__/harness.ts'

it('leaves thoughts out that a server puts among the parts of a message, or of an item of no type', () => {
  const parts = [
    { type: 'reasoning_text', text: 'Hm.' },
    { type: 'summary_text', text: 'Hm.' },
    { type: 'output_text', text: 'Hello' },
  ]
  for (const item of [
    { type: 'message', role: 'assistant', content: parts },
    { id: 'x', content: parts },
  ]) {
    expect(fold(decodeBody({ output: [item] }).events).items).toMatchObject([{ type: 'message', text: 'Hello', reasoning: '', summary: '' }])
    expect(
      fold(
        decode([
          { type: 'response.output_item.done', output_index: 0, item },
          { type: 'response.completed', response: { output: [item] } },
        ]).events,
      ).items,
    ).toMatchObject([{ type: 'message', text: 'Hello' }])
  }
})
