import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { manualClock } from '../testing/deterministic.ts'
import { onStopSignals } from './stop-signals.ts'

function listening() {
  const source = new EventEmitter()
  const clock = manualClock()
  const heard: string[] = []
  const forget = onStopSignals(
    (signal) => heard.push(signal),
    () => heard.push('at once'),
    { source: source as unknown as NodeJS.Process, clock },
  )
  return { source, clock, heard, forget }
}

it.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM', 'SIGINT'],
  ['SIGINT', 'SIGTERM'],
])('stops gracefully with %s, and at once with %s after it', (first, second) => {
  const { source, clock, heard } = listening()
  source.emit(first)
  expect(heard).toEqual([first])
  clock.advance(500)
  source.emit(second)
  expect(heard).toEqual([first, 'at once'])
})

it('takes a signal that arrives twice, from the terminal and from npm, for one', () => {
  const { source, clock, heard } = listening()
  source.emit('SIGINT')
  clock.advance(499)
  source.emit('SIGINT')
  expect(heard).toEqual(['SIGINT'])
  clock.advance(1)
  source.emit('SIGINT')
  expect(heard).toEqual(['SIGINT', 'at once'])
})

it('does not react to signals once it is closed', () => {
  const { source, heard, forget } = listening()
  forget()
  source.emit('SIGTERM')
  expect([source.eventNames(), heard]).toEqual([[], []])
})
