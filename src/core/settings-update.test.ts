import { describe, expect, it } from 'vitest'
import { answerDialects } from '../dialects/index.ts'
import { decodeResponsesRequest } from '../doors/responses/decode-request.ts'
import { readableInput } from '../pipeline/input-tools.ts'
import { anyTarget } from '../testing/any-target.ts'
import { withoutParameters } from '../dialects/shared/refused-parameters.ts'
import type { Dialect, Target } from './dialect.ts'
import type { Parameter } from './endpoint.ts'
import type { ModelRequest } from './request.ts'

const JSON_FORMAT = { type: 'json_schema', name: 'n', schema: { type: 'object', properties: {}, additionalProperties: false } }
const ASKED = { type: 'message', role: 'user', content: 'q' }
const update = (settings: object): object => ({ type: 'configuration_update', ...settings })

describe('settings that the input changes', () => {
  const settingsOf = (body: object): unknown => {
    const { reasoning, text, initial_settings: initial } = decodeResponsesRequest(body)
    return { reasoning, text, initial }
  }
  it('are in force from there on, and the last change counts', () => {
    const input = [
      update({ reasoning: { effort: 'high' } }),
      ASKED,
      update({ text: { format: JSON_FORMAT } }),
      update({ reasoning: { effort: 'low' } }),
    ]
    expect(settingsOf({ input })).toEqual({ reasoning: { effort: 'low' }, text: { format: JSON_FORMAT }, initial: {} })
  })
  it('leave all others as they are, but for what says otherwise how much the model reasons', () => {
    const reasoning = { max_tokens: 2_000, enabled: true, summary: 'auto' }
    const text = { verbosity: 'low', format: JSON_FORMAT }
    const input = [ASKED, update({ reasoning: { effort: 'high' }, text: { format: { type: 'text' } } })]
    expect(settingsOf({ input, reasoning, text })).toEqual({
      reasoning: { effort: 'high', summary: 'auto' },
      text: { verbosity: 'low', format: { type: 'text' } },
      initial: { reasoning, text },
    })
  })
  it('stay the same where a change names none', () => {
    const input = [ASKED, update({}), update({ reasoning: null, text: null }), update({ reasoning: { effort: null }, text: { format: null } })]
    expect(settingsOf({ input, reasoning: { effort: 'low' } })).toMatchObject({ reasoning: { effort: 'low' }, text: undefined })
  })
  it('are not what a field of the body says they were', () => {
    const initial_settings = { reasoning: { effort: 'max' } }
    expect(settingsOf({ input: 'q', initial_settings })).toEqual({ reasoning: undefined, text: undefined, initial: undefined })
  })
})

describe.each(answerDialects.map((dialect) => [dialect.name, dialect] as const))('a change of settings in %s', (name, dialect: Dialect) => {
  const target = (options?: object): Target => anyTarget(dialect, options)
  const sent = (body: object, to: Target): { readonly body: string; readonly dropped: readonly string[] } =>
    dialect.encodeRequest(readableInput(decodeResponsesRequest(body), dialect, to), to)
  const begun = { reasoning: { effort: 'low' }, input: [ASKED, update({ reasoning: { effort: 'high' }, text: { format: JSON_FORMAT } })] }
  const direct = { reasoning: { effort: 'high' }, text: { format: JSON_FORMAT }, input: [ASKED] }

  it('has the effect of the same settings in the request', () => {
    const to = target(name === 'openai-responses' ? { builtin_tools: false } : {})
    const [changed, own] = [sent(begun, to), sent(direct, to)]
    expect(JSON.parse(changed.body)).toEqual(JSON.parse(own.body))
    expect(changed.dropped).toEqual(own.dropped)
    expect(changed.body).not.toContain('configuration_update')
  })
  it('is left to an endpoint that reads it, so that the prompt begins as before', () => {
    const to = target()
    const reads = dialect.readsSettings?.([], to) === true
    expect(reads).toBe(name === 'openai-responses')
    if (!reads) return
    const body = JSON.parse(sent(begun, to).body) as object
    expect(body).toMatchObject({ reasoning: { effort: 'low' }, input: [{ role: 'user' }, begun.input[1]] })
    expect(body).not.toHaveProperty('text')
  })
  it.each([
    ['an effort that the model does not have', { reasoning_efforts: ['low', 'medium'] }, dialect.supports],
    ['an effort to a model that does not reason', {}, ['structured_outputs']],
    ['a format that it does not know', {}, ['reasoning']],
    ['a format that has to be written otherwise', {}, dialect.supports, { ...JSON_FORMAT, strict: null }],
  ] as const)('is not left to it if it names %s', (_, options, supports, format: object = JSON_FORMAT) => {
    const to = { ...target(name === 'openai-responses' ? options : {}), supports: new Set<Parameter>(supports) }
    const changing = { ...begun, input: [ASKED, update({ reasoning: { effort: 'high' }, text: { format } })] }
    expect(JSON.parse(sent(changing, to).body)).toEqual(JSON.parse(sent({ ...direct, text: { format } }, to).body))
  })
  it('does not bring back what the endpoint has refused, or what was left out of the input', () => {
    const decoded = decodeResponsesRequest({ ...begun, text: { verbosity: 'low' } })
    const twice = (request: ModelRequest): object =>
      JSON.parse(dialect.encodeRequest(readableInput(request, dialect, target()), target()).body) as object
    const refused = twice(withoutParameters(decoded, ['verbosity', 'reasoning']))
    expect(refused).toEqual(
      twice(withoutParameters(decodeResponsesRequest({ ...direct, text: { ...direct.text, verbosity: 'low' } }), ['verbosity', 'reasoning'])),
    )
    const shortened = twice({ ...decoded, input: decoded.input.slice(0, 1) })
    expect(shortened).toEqual(twice(decodeResponsesRequest({ ...direct, text: { ...direct.text, verbosity: 'low' } })))
  })
})
