import { describe, expect, it } from 'vitest'
import { refusedForm, toldOtherwise } from './conversation-forms.ts'

describe('a refusal of the form of a conversation', () => {
  it.each([
    [400, 'Conversation roles must alternate user/assistant/user/assistant/...', 'turns of one role in a row'],
    [400, 'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...', 'turns of one role in a row'],
    [400, 'After the (optional) system message(s), user and assistant roles should be alternating.', 'turns of one role in a row'],
    [500, 'system message must be at the beginning', 'turns of one role in a row'],
    [400, 'System role not supported', 'the role of the system'],
    [400, 'Developer instruction is not enabled for models/gemma-3-27b-it', 'the role of the system'],
    [400, 'Only user and assistant roles are supported!', 'the role of the system'],
    [400, "Unsupported value: 'messages[0].role' does not support 'system' with this model.", 'the role of the system'],
    [400, 'The `reasoning_content` in the thinking mode must be passed back to the API.', 'calls without the thoughts before them'],
    [400, 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2', 'calls without the thoughts before them'],
  ])('is known: %i %s', (status, message, name) => {
    expect(refusedForm(status, message)).toBe(name)
  })

  it.each([
    [503, 'system message must be at the beginning'],
    [400, 'reasoning_content is not permitted'],
    [400, 'messages must not be empty'],
  ])('is no other one: %i %s', (status, message) => {
    expect(refusedForm(status, message)).toBeUndefined()
  })

  it('has the request told otherwise, once', () => {
    const request = { input: [] }
    const told = toldOtherwise(request, ['turns of one role in a row', 'temperature'])
    expect(told).toEqual({ input: [], told_as: { alternating: true } })
    expect(toldOtherwise(told, ['turns of one role in a row'])).toBe(told)
    expect(toldOtherwise(told, ['the role of the system']).told_as).toEqual({ alternating: true, systemless: true })
    expect(toldOtherwise(request, ['temperature'])).toBe(request)
  })
})
