import { expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import type { ModelRequest } from '../core/request.ts'
import { recordedParameters } from './recorded-parameters.ts'

const of = (request: object, keptRequest?: object) =>
  recordedParameters({ request: request as ModelRequest, trace: keptRequest === undefined ? {} : { keptRequest } } as Call)

it('parameters of every front door are recorded, under the names they were sent with', () => {
  const sent = {
    temperature: 0.3,
    reasoning: { effort: 'low' },
    min_p: 0.1,
    top_a: 0,
    repetition_penalty: 1.1,
    seed: 7,
    logit_bias: { '50256': -100 },
  }
  expect(of({ ...sent, input: [], user: 'u', top_p: null })).toEqual(sent)
})

it('stop sequences are a list, however they were sent', () => {
  for (const sent of [{ stop: 'END' }, { stop: ['END'] }, { stop_sequences: ['END', ''] }]) expect(of(sent)).toEqual({ stop: ['END'] })
  for (const none of [{ stop: '' }, { stop: [] }, { stop: null }, {}]) expect(of(none)).toEqual({})
})

it('texts among them are recorded after redaction', () => {
  expect(of({ stop: 'jane@example.com' }, { stop: '[EMAIL]' })).toEqual({ stop: ['[EMAIL]'] })
  const choice = (name: string): object => ({ tool_choice: { type: 'function', name } })
  expect(of(choice('jane@example.com'), choice('[EMAIL]'))).toEqual(choice('[EMAIL]'))
})

it('unvalidated values that are not valid parameters are left out', () => {
  expect(of({ seed: 1e300, min_p: 'much', top_a: { a: 1 }, repetition_penalty: [1], logit_bias: ['x'], stop: { a: 1 } })).toEqual({})
  expect(of({ seed: 1.5, logit_bias: { a: 'x' } })).toEqual({})
})
