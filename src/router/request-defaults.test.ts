import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../core/request.ts'
import { withDefaults } from './request-defaults.ts'

const hello = { type: 'message', role: 'user', content: 'Hi' }
const request = (fields: object): ModelRequest => ({ input: [hello], ...fields })

describe('the default model', () => {
  it.each<[string, object, string | undefined]>([
    ['serves who names none', {}, 'acme/small'],
    ['gives way to a named one', { model: 'acme/large' }, 'acme/large'],
    ['gives way to the first of several', { models: ['acme/large', 'acme/small'] }, 'acme/large'],
    ['is another for pictures', { modalities: ['image'] }, 'acme/paint'],
  ])('%s', (_what, fields, model) => {
    expect(withDefaults(request(fields), { model: 'acme/small', imageModel: 'acme/paint' }).model).toBe(model)
  })

  it('is none if none is configured', () => {
    const asked = request({})
    expect(withDefaults(asked, {})).toBe(asked)
  })
})

describe('the default of prompt caches', () => {
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
  const weather = { type: 'function', name: 'weather' }
  const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }
  const called = { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' }

  it.each<[string, object]>([
    ['that offers tools', { tools: [weather] }],
    ['with an answer in it', { input: [hello, answer, hello] }],
    ['with a call in it', { input: [hello, called] }],
    ['that is to be found again by its key', { prompt_cache_key: 'thread-1' }],
  ])('is added to a conversation %s', (_what, fields) => {
    expect(withDefaults(request({ model: 'm', ...fields }), { promptCaching: '1h' }).cache_control).toEqual({ type: 'ephemeral', ttl: '1h' })
  })

  it.each<[string, object]>([
    ['a prompt that stands alone, which would only be written', {}],
    ['the same with a list of tools that is empty', { tools: [] }],
    ['whoever asks for a cache', { tools: [weather], cache_control: { type: 'ephemeral' } }],
    ['whoever marks a tool', { tools: [{ ...weather, ...mark }] }],
    ['whoever marks a part', { tools: [weather], input: [{ ...hello, content: [{ type: 'input_text', text: 'Hi', ...mark }] }] }],
  ])('does not change %s', (_what, fields) => {
    const asked = request({ model: 'm', ...fields })
    expect(withDefaults(asked, { promptCaching: '5m' })).toBe(asked)
  })
})
