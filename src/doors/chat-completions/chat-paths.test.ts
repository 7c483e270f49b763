import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import { withOwnPath } from '../shared/own-path.ts'
import { chatCompletions } from './door.ts'

const part = { type: 'text', text: 'x' }
const { pathOf } = chatCompletions.read({
  messages: [
    { role: 'user', content: [part, { type: 'image_url', image_url: { url: 'https://acme.example/a.png' } }] },
    { role: 'assistant', content: 'so', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: [part] },
  ],
})

describe('a path of the translated body', () => {
  it.each([
    ['input', 'messages'],
    ['input[0].content[1].image_url', 'messages[0].content[1]'],
    ['input[0].content', 'messages[0].content'],
    ['input[1].content[0]', 'messages[1]'],
    ['input[2].arguments', 'messages[1]'],
    ['input[3].output[0]', 'messages[2].content[0]'],
    // Items that a plugin has added after the caller's own.
    ['input[4].content[0]', 'messages'],
    ['plugins[0].id', 'plugins[0].id'],
    ['inputs', 'inputs'],
  ])('%s becomes %s', (path, own) => expect(pathOf?.(path)).toBe(own))

  it('is replaced in the message as well, if it is more than one word', () => {
    const told = (message: string, path: string): GatewayError => withOwnPath(new GatewayError('invalid_prompt', message, { path }), pathOf)
    expect(told('Could not fetch input[0].content[1].image_url: no such host', 'input[0].content[1].image_url')).toMatchObject({
      message: 'Could not fetch messages[0].content[1]: no such host',
      details: { path: 'messages[0].content[1]' },
    })
    expect(told('No input in sound', 'input')).toMatchObject({ message: 'No input in sound', details: { path: 'messages' } })
  })
})
