import { describe, expect, it } from 'vitest'
import { classifyUpstreamError } from './errors.ts'

const asksWhole = (message: string, param?: string, status = 400): unknown => {
  const error = { message, type: 'invalid_request_error', param, code: 'unsupported_value' }
  return classifyUpstreamError({ status, headers: {}, body: JSON.stringify({ error }), providerName: 'Acme' }).details.metadata?.['ask_whole']
}
const VERIFY = ' Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.'

describe('a refusal to stream an answer', () => {
  it.each([
    ['for an account nobody verified', `Your organization must be verified to stream this model.${VERIFY}`],
    ['of a model', "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported."],
    ['of another server', 'Error in `stream`: `stream` is not supported for this model'],
    ['beside tools', "This model doesn't support tool use in streaming mode."],
  ])('is known: %s', (_name, message) => {
    expect(asksWhole(message, 'stream')).toBe(true)
  })
  it.each<[string, string, string?, number?]>([
    ['an option of the stream', "The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options'],
    ['a model nobody may use', `Your organization must be verified to use the model \`gpt-5\`.${VERIFY}`],
    ['another status', `Your organization must be verified to stream this model.${VERIFY}`, 'stream', 500],
  ])('is not %s', (_name, message, param, status) => {
    expect(asksWhole(message, param, status)).toBeUndefined()
  })
})
