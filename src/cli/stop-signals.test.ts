import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { onStopSignals } from './stop-signals.ts'

it.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM', 'SIGINT'],
  ['SIGINT', 'SIGTERM'],
])('stops gracefully with %s, and at once with %s after it', (first, second) => {
  const source = new EventEmitter()
  const heard: string[] = []
  onStopSignals(
    (signal) => heard.push(signal),
    () => heard.push('at once'),
    source as unknown as NodeJS.Process,
  )
  source.emit(first)
  expect(heard).toEqual([first])
  source.emit(second)
  expect(heard).toEqual([first, 'at once'])
})

it('does not react to signals once it is closed', () => {
  const source = new EventEmitter()
  const forget = onStopSignals(
    () => expect.unreachable(),
    () => expect.unreachable(),
    source as unknown as NodeJS.Process,
  )
  forget()
  source.emit('SIGTERM')
  expect(source.eventNames()).toEqual([])
})
