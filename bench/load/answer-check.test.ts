import { describe, expect, it } from 'vitest'
import { END_MARK } from '../mock/script.ts'
import { AnswerCheck, type CallerFormat } from './answer-check.ts'

function verdict(format: CallerFormat, stream: boolean, text: string, pieces = 0): string | undefined {
  const check = new AnswerCheck(format, stream)
  check.start(200)
  // In pieces of seven bytes, which also cut the marks.
  for (let at = 0; at < text.length; at += 7) check.body(Buffer.from(text.slice(at, at + 7)))
  return check.verdict(pieces)
}
const delta = (text: string): string => `data: {"type":"response.output_text.delta","delta":${JSON.stringify(text)}}\n\n`
const completed = `data: {"type":"response.completed","response":{"output_text":"all ${END_MARK}"}}\n\n`
const done = 'data: [DONE]\n\n'

describe('an answer of a load run', () => {
  it('is judged by its end mark, its number of pieces and its terminator', () => {
    const whole = delta('all') + delta(` ${END_MARK}`) + completed
    expect(verdict('responses', true, whole + done, 2)).toBeUndefined()
    expect(verdict('responses', true, whole + done, 3)).toBe('2 pieces of 3')
    expect(verdict('responses', true, whole, 2)).toBe('the stream does not end')
    expect(verdict('responses', true, delta('all') + done, 1)).toBe('the end of the text is missing')
  })

  it('ends with its last event where the format has nothing after it', () => {
    const whole = delta(`all ${END_MARK}`) + completed
    expect(verdict('responses-bare', true, whole, 1)).toBeUndefined()
    expect(verdict('responses-bare', true, delta(`all ${END_MARK}`), 1)).toBe('the stream does not end')
    expect(verdict('responses-bare', true, whole.slice(0, -2), 1)).toBe('the stream does not end')
  })

  it('ends with its object where it is not streamed', () => {
    expect(verdict('responses', false, `{"text":"${END_MARK}"}`)).toBeUndefined()
    expect(verdict('responses-bare', false, `{"text":"${END_MARK}"`)).toBe('the JSON does not end')
  })
})
