import { describe, expect, it } from 'vitest'
import { parseAnswer } from './exact-json.ts'

describe('an answer', () => {
  it('has the arguments of its calls with their original numbers, where a server sends an object', () => {
    const text = '{"n":0.50,"calls":[{"function":{"name":"f","arguments":{"id":12345678901234567890,"list":[1.0,{"deep":-0}]}}}]}'
    expect(parseAnswer(text)).toEqual({
      n: 0.5,
      calls: [{ function: { name: 'f', arguments: '{"id":12345678901234567890,"list":[1.0,{"deep":-0}]}' } }],
    })
  })

  it.each([
    ['arguments that are text', '{"arguments":"{\\"id\\":12345678901234567890}"}'],
    ['arguments without a number a double could change', '{"arguments":{"id":1}}'],
    ['no arguments', '{"id":1.50,"usage":{"cost":0.1}}'],
    ['no object', '[1.5]'],
    ['no JSON', '{"arguments":{"id":1.5'],
  ])('is parsed as usual: %s', (_name, text) => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      value = undefined
    }
    expect(parseAnswer(text)).toEqual(value)
  })

  it('is read as it is however deep it goes', () => {
    const deep = `${'['.repeat(5_000)}{"arguments":{"id":1.50}}${']'.repeat(5_000)}`
    expect(() => parseAnswer(deep)).not.toThrow()
  })
})
