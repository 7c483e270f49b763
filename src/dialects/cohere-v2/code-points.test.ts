import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cohereV2 } from './index.ts'
import { cohereTarget } from './__fixtures__/target.ts'
import type { ModelEvent } from '../../core/event.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { CodePoints } from './code-points.ts'

it('a place counted in code points is the one that taking the text apart gives, while it grows', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00'), maxLength: 200 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), fc.array(fc.tuple(fc.nat(400), fc.nat(400)), { maxLength: 5 }), (pieces, wanted) => {
      const points = new CodePoints()
      let text = ''
      for (const each of pieces) {
        text += each
        for (const [before, behind] of wanted) {
          const all = Array.from(text)
          const base = all.slice(0, before).join('').length
          expect(points.offset(text, base, behind)).toBe(base + Array.from(text.slice(base)).slice(0, behind).join('').length)
        }
      }
    }),
  )
})

it.each([
  ['counted in code points, of words with pairs', (n: number) => ({ start: n * 6, end: n * 6 + 4, text: 'word' })],
  ['of words that are not there', (n: number) => ({ start: n * 6, end: n * 6 + 4, text: 'none' })],
  ['that wait for text that never comes', () => ({ start: 9e6, end: 9e6 + 1, text: 'x' })],
])('citations %s cost what they are', (_name, citation) => {
  const count = 10_000
  const out: ModelEvent[] = []
  const decoder = cohereV2.decoder({ input: [] }, cohereTarget())
  const push = (type: string, message: object, more: object = {}): void =>
    decoder.push(JSON.stringify({ type, index: 0, delta: { message }, ...more }), type, out)
  const started = threadTime()
  push('message-start', { role: 'assistant' }, { id: 'm1' })
  push('content-start', { content: { type: 'text', text: '' } })
  for (let n = 0; n < count; n++) {
    push('content-delta', { content: { text: 'word 😀' } })
    push('citation-start', { citations: { ...citation(n), sources: [{ type: 'document', id: `d${n}` }] } })
  }
  decoder.push(JSON.stringify({ type: 'message-end', delta: { finish_reason: 'COMPLETE' } }), 'message-end', out)
  expect(out.filter(({ type }) => type === 'annotation')).toHaveLength(count)
  expect(threadTime() - started).toBeLessThan(3_000)
})
