import { describe, expect, it } from 'vitest'
import { refusedForm, withRequestForms } from './request-forms.ts'

describe('a refusal of the form of a request', () => {
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
    [400, 'Missing reasoning_content field in the assistant message at message index 2.', 'calls without the thoughts before them'],
    [400, 'The `content[].thinking` in the thinking mode must be passed back to the API.', 'calls without the thoughts before them'],
    [400, 'Missing thinking block in the assistant message at message index 11.', 'calls without the thoughts before them'],
    [400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 'max_tokens by that name'],
    [400, 'Unrecognized request argument supplied: stream_options', 'stream_options'],
    [
      400,
      "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]",
      'stream_options',
    ],
    [400, 'tools.3.cache_control: Extra inputs are not permitted', 'cache_control'],
    [400, "Error from provider: Extra inputs are not permitted, field: 'messages[0].cache_control'", 'cache_control'],
    [400, 'Unknown field: cache_control', 'cache_control'],
  ])('is known: %i %s', (status, message, name) => {
    expect(refusedForm(status, message)).toBe(name)
  })

  it.each([
    [503, 'system message must be at the beginning'],
    [400, 'reasoning_content is not permitted'],
    [400, 'messages.1.content.0.thinking: each `thinking` block must contain `thinking`'],
    [400, 'messages must not be empty'],
    [400, 'A maximum of 4 blocks with cache_control may be provided. Found 5.'],
    [400, "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens."],
  ])('is not recognised in other errors: %i %s', (status, message) => {
    expect(refusedForm(status, message)).toBeUndefined()
  })

  it('is known by the place it names', () => {
    expect(refusedForm(422, 'Extra inputs are not permitted', 'stream_options')).toBe('stream_options')
    expect(refusedForm(422, 'Extra inputs are not permitted', 'temperature')).toBeUndefined()
  })

  it('rewrites the request, once', () => {
    const request = { input: [] }
    const told = withRequestForms(request, ['turns of one role in a row', 'temperature'])
    expect(told).toEqual({ input: [], request_forms: { alternating: true } })
    expect(withRequestForms(told, ['turns of one role in a row'])).toBe(told)
    expect(withRequestForms(told, ['the role of the system']).request_forms).toEqual({ alternating: true, no_system_role: true })
    expect(withRequestForms(request, ['temperature'])).toBe(request)
  })
})
