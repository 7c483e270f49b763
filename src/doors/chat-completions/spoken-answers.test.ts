import { describe, expect, it } from 'vitest'
import { chatCompletions } from './door.ts'

const said = (text: string) => [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]

describe('an earlier answer in audio', () => {
  it.each([
    [{ content: null, audio: { id: 'audio_1', transcript: 'Hello.' } }, said('Hello.')],
    [{ content: '', audio: { transcript: 'Hello.' } }, said('Hello.')],
    [{ content: 'Read.', audio: { transcript: 'Hello.' } }, said('Read.')],
    [{ content: null, audio: { id: 'audio_1' } }, []],
    [{ content: null, audio: null }, []],
  ])('becomes its transcript: %j', (message, items) => {
    const { body } = chatCompletions.read({
      messages: [
        { role: 'assistant', ...message },
        { role: 'user', content: 'and?' },
      ],
    })
    expect((body as { readonly input: readonly unknown[] }).input.slice(0, -1)).toEqual(items)
  })
})
