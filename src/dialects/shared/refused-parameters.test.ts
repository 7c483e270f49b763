import { describe, expect, it } from 'vitest'
import { classifyUpstreamError } from './errors.ts'
import { withoutParameters } from './refused-parameters.ts'

const refused = (error: object, status = 400): unknown =>
  classifyUpstreamError({ status, headers: {}, body: JSON.stringify(error), providerName: 'Acme' }).details.metadata?.['refused_parameter']
const openai = (message: string, param: string | null = null, code = 'unsupported_parameter') => ({
  error: { message, type: 'invalid_request_error', param, code },
})

describe('the parameter a request was refused for', () => {
  it.each<[string, object, string]>([
    ['OpenAI', openai("Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'), 'temperature'],
    [
      'OpenAI, of a value',
      openai("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", 'temperature'),
      'temperature',
    ],
    ['OpenAI, of a member', openai("Unsupported parameter: 'reasoning.effort' is not supported with this model.", 'reasoning.effort'), 'reasoning'],
    [
      'OpenAI, of an account nobody verified',
      openai('Your organization must be verified to generate reasoning summaries.', 'reasoning.summary', 'unsupported_value'),
      'reasoning.summary',
    ],
    ['OpenAI, which knows no such name', openai('Unrecognized request argument supplied: user'), 'user'],
    ['Anthropic', { type: 'error', error: { type: 'invalid_request_error', message: '`temperature` is deprecated for this model.' } }, 'temperature'],
    [
      'Anthropic, of a way to think',
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message:
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
        },
      },
      'reasoning',
    ],
    [
      'Anthropic, of two that exclude each other',
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: '`temperature` and `top_p` cannot both be specified for this model. Please use only one.' },
      },
      'top_p',
    ],
    [
      'Cerebras',
      {
        message: 'parallel_tool_calls=False is not supported by this model.',
        type: 'invalid_request_error',
        param: 'parallel_tool_calls',
        code: 'wrong_api_format',
      },
      'parallel_tool_calls',
    ],
    ['Groq', openai("property 'prompt_cache_key' is unsupported"), 'prompt_cache_key'],
    ['xAI', { code: 'invalid-argument', error: 'Argument not supported on this model: presencePenalty' }, 'presence_penalty'],
    ['Fireworks', openai("Extra inputs are not permitted, field: 'logit_bias', value: {'1': 2}"), 'logit_bias'],
    [
      'Google, of penalties',
      { error: { code: 400, message: 'Penalty is not enabled for models/gemini-2.5-flash', status: 'INVALID_ARGUMENT' } },
      'penalties',
    ],
    ...[
      'Thinking level is not supported for this model.',
      'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
      'Thinking level is unsupported: THINKING_LEVEL_MINIMAL',
      "'minimal' is not a supported thinking level for this model. Allowed values are: medium, low, high.",
      'Thinking is not enabled for models/gemini-2.0-flash-preview-image-generation',
      'Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled.',
      'Budget 0 is invalid. This model only works in thinking mode.',
    ].map((message): [string, object, string] => [`Google: ${message}`, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, 'reasoning']),
    ['Moonshot, of a fixed value', openai('invalid temperature: only 1 is allowed for this model'), 'temperature'],
    ['Moonshot, of another', openai('invalid top_p: only 0.95 is allowed for this model'), 'top_p'],
    ['Anthropic, of a value fixed for thoughts', openai('`temperature` may only be set to 1 when thinking is enabled.'), 'temperature'],
    ['Anthropic, of bounds for thoughts', openai('`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.'), 'top_p'],
    ['Anthropic, of an effort', openai('This model does not support the effort parameter.'), 'reasoning'],
    ['Bedrock, of a field', { message: "This model doesn't support the temperature field. Remove temperature and try again." }, 'temperature'],
    ['Bedrock, of another', { message: "This model doesn't support the topP field. Remove topP and try again." }, 'top_p'],
    ['Bedrock', { message: 'The model returned the following errors: `temperature` is deprecated for this model.' }, 'temperature'],
  ])('is known from %s', (_name, error, name) => {
    expect(refused(error)).toBe(name)
  })

  it.each<[string, object, number?]>([
    ['one an answer cannot do without', openai("Unsupported parameter: 'max_tokens' is not supported with this model.", 'max_tokens')],
    ['a value out of bounds', openai("Invalid 'temperature': decimal above maximum value. Expected a value <= 2.", 'temperature', 'x')],
    ['another place', openai("Unsupported value: 'messages[0].role' does not support 'user' with this model.", 'messages[0].role')],
    ['a field an answer cannot do without', { message: "This model doesn't support the stopSequences field. Remove stopSequences and try again." }],
    ['a choice of tools', openai("tool_choice 'specified' is incompatible with thinking enabled")],
    ['a word of a sentence', openai('This model does not support the field of study the user asked for')],
    ['another status', openai("Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'), 500],
  ])('is not %s', (_name, error, status) => {
    expect(refused(error, status)).toBeUndefined()
  })
})

describe('a request without some of its parameters', () => {
  const request = { input: [], temperature: 0.2, seed: 7, text: { format: { type: 'text' }, verbosity: 'low' } } as const
  it('has the others', () => {
    expect(withoutParameters(request, ['temperature', 'verbosity', 'top_p'])).toEqual({ input: [], seed: 7, text: { format: { type: 'text' } } })
  })
  it('switches reasoning off where that was refused beside tools, whether or not it was requested', () => {
    const message =
      "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    const name = refused(openai(message, 'reasoning_effort', 'invalid'))
    for (const reasoning of [undefined, { effort: 'high' }] as const) {
      const asked = { input: [], ...(reasoning === undefined ? {} : { reasoning }) }
      expect(withoutParameters(asked, [String(name)])).toEqual({ input: [], reasoning: { effort: 'none', stated: true } })
    }
  })
  it('has no penalty at all where the server has one name for both', () => {
    expect(withoutParameters({ input: [], frequency_penalty: 0.1, presence_penalty: 0.2, seed: 1 }, ['penalties'])).toEqual({ input: [], seed: 1 })
    expect(withoutParameters(request, ['penalties'])).toBe(request)
  })
  it('reasons as much without a summary', () => {
    expect(withoutParameters({ input: [], reasoning: { effort: 'high', summary: 'auto' } }, ['reasoning.summary'])).toEqual({
      input: [],
      reasoning: { effort: 'high' },
    })
  })
  it('is the same where it has none of them', () => {
    expect(withoutParameters({ input: [], reasoning: { effort: 'high' } }, ['reasoning.summary'])).toMatchObject({ reasoning: { effort: 'high' } })
    expect(withoutParameters(request, ['top_p', 'user'])).toBe(request)
  })
})
