import { expect, it } from 'vitest'
import { threadTime } from '../../testing/thread-time.ts'
import { parseCutJson } from './cut-json.ts'

const whole = { error: { message: 'a "b" \\ é\u0001', code: 400, list: [1, { x: null }, 'y'], deep: { input: 'the prompt' } } }

it('wherever JSON is cut, the part before the cut can be read', () => {
  const text = JSON.stringify(whole)
  for (let at = 1; at <= text.length; at++) {
    const value = parseCutJson(text.slice(0, at)) as typeof whole | undefined
    // Within a bare word nothing says which it was going to be.
    if (value === undefined) expect(text.slice(0, at)).toMatch(/(?:n|nu|nul)$/)
    else if (at > text.indexOf(',"code"')) expect(value.error.message).toBe(whole.error.message)
  }
  expect(parseCutJson(text)).toEqual(whole)
})

it.each(['', 'upstream connect error', '[Errno 111] Connection refused', '{not json', '<html>', '"text', '42'])(
  '%j is not the beginning of JSON',
  (text) => {
    expect(parseCutJson(text)).toBeUndefined()
  },
)

it.each(['\t', ',', ' \n'])('a body that goes on with %j and ends in something else is read in time that grows with its length', (filling) => {
  const started = threadTime()
  parseCutJson(`{"a":1${filling.repeat(32_000)}x`)
  // Looked for from each of its characters, the end of such a run takes seconds.
  expect(threadTime() - started).toBeLessThan(500)
})

it('text after the last value is ignored', () => {
  expect(parseCutJson('{"a":1, \r\n\t,')).toEqual({ a: 1 })
})
