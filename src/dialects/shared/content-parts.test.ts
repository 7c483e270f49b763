import { describe, expect, it } from 'vitest'
import { contentParts, textOf } from './content-parts.ts'

describe('content parts', () => {
  it('are what a user could have sent: texts of the assistant are plain, empty ones vanish', () => {
    expect(
      contentParts([
        { type: 'output_text', text: 'a' },
        { type: 'refusal', refusal: 'no' },
        { type: 'input_text', text: '' },
      ]),
    ).toEqual([
      { type: 'input_text', text: 'a' },
      { type: 'input_text', text: 'no' },
    ])
  })
  it('hold a note where content was encrypted for another vendor’s model', () => {
    const output = [
      { type: 'input_text', text: 'seen' },
      { type: 'encrypted_content', encrypted_content: 'zz' },
    ] as const
    expect(contentParts(output)).toEqual([
      { type: 'input_text', text: 'seen' },
      { type: 'input_text', text: '[Encrypted content left out: this model cannot read it]' },
    ])
    expect(textOf(output)).toBe('seen')
  })
})
