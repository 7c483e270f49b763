import { expect, it } from 'vitest'
import { manualClock } from '../testing/deterministic.ts'
import { createProgress } from './progress.ts'

function watched(isTTY: boolean) {
  const clock = manualClock()
  const written: string[] = []
  const progress = createProgress({ stream: { isTTY, write: (text) => written.push(text) }, clock })
  const showAfter = (ms: number, text: string): void => {
    clock.advance(ms)
    progress.show(() => text)
  }
  return { progress, written, showAfter }
}

it('in a terminal, long work has one line, which changes and goes at the end', () => {
  const { progress, written, showAfter } = watched(true)
  showAfter(1_999, 'early')
  showAfter(1, 'one')
  showAfter(499, 'too soon')
  showAfter(1, 'two')
  progress.end()
  expect(written).toEqual(['\r\u001b[Kone', '\r\u001b[Ktwo', '\r\u001b[K'])
})

it('elsewhere it has a line every ten seconds', () => {
  const { progress, written, showAfter } = watched(false)
  showAfter(9_999, 'early')
  showAfter(1, 'one')
  showAfter(9_999, 'too soon')
  showAfter(1, 'two')
  progress.end()
  expect(written).toEqual(['one\n', 'two\n'])
})

it('short work has none', () => {
  const { progress, written, showAfter } = watched(true)
  showAfter(100, 'one')
  progress.end()
  expect(written).toEqual([])
})
