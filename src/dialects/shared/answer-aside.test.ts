import { describe, expect, it } from 'vitest'
import { textSteps } from '../../testing/text-steps.ts'
import { AnswerAside } from './answer-aside.ts'
import { AnswerWriter } from './answer-writer.ts'

function written(pieces: readonly string[]): string {
  const writer = new AnswerWriter({ callKind: () => ({ kind: 'function' }) } as never)
  const aside = new AnswerAside(writer)
  for (const piece of pieces) aside.text(piece)
  aside.flush()
  return writer.out.flatMap((event) => (event.type === 'text-delta' ? [event.delta] : [])).join('')
}

describe('text beside a hidden tool', () => {
  it('is kept with the white space before it', () => expect(written(['\n', ' ', 'hello'])).toBe('\n hello'))
  it('streams with it if it begins as the answer would', () => expect(written(['\n', ' ', '{"a"', ':1}'])).toBe('\n {"a":1}'))
  it('may begin with white space without end, which is read once', () => {
    const stepsFor = (count: number): number => textSteps(() => written([...Array<string>(count).fill(' \n'), 'a']))
    expect(stepsFor(2_000)).toBeLessThan(5 * stepsFor(500))
  })
})
