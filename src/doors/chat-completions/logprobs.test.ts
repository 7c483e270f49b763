import { describe, expect, it } from 'vitest'
import { chatCompletions } from './door.ts'

const asked = { include: ['message.output_text.logprobs'] }

describe('probabilities of tokens', () => {
  it.each([
    [{ logprobs: true }, asked],
    [
      { logprobs: true, top_logprobs: 0 },
      { top_logprobs: 0, ...asked },
    ],
    [{ logprobs: true, include: ['reasoning.encrypted_content'] }, { include: ['reasoning.encrypted_content', ...asked.include] }],
    [{ top_logprobs: 2 }, { top_logprobs: 2, ...asked }],
    // Clients that write out their defaults.
    [{ logprobs: null, top_logprobs: 0 }, { top_logprobs: 0 }],
    [{ logprobs: false, top_logprobs: 2 }, {}],
    [{ logprobs: false }, {}],
    [{}, {}],
  ])('%j ask for %j', (body, expected) => {
    const messages = [{ role: 'user', content: 'x' }]
    expect(chatCompletions.read({ messages, ...body }).body).toEqual({ input: [{ type: 'message', role: 'user', content: 'x' }], ...expected })
  })
})
