import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { silentLogger } from '../../lib/logger.ts'
import { createOutageLog, type OutageLog } from './outage-log.ts'

const QUIET_MS = 1_000
const AGAIN = 'the shared state answers again'
let said: unknown[]
let outages: OutageLog

beforeEach(() => {
  vi.useFakeTimers()
  said = []
  const logger = {
    ...silentLogger,
    warn: ({ error }: { error?: string }) => void said.push(error),
    info: (_: object, text: string) => void said.push(text),
  }
  outages = createOutageLog(logger, QUIET_MS)
})
afterEach(() => {
  vi.useRealTimers()
})

it('an outage found by several users is reported once, and its end when all have recovered', () => {
  outages.tell('commands', new Error('refused'))
  outages.tell('subscriber', new Error('refused'))
  outages.tell('commands', new Error('refused once more'))
  outages.tell('commands', undefined)
  expect(said).toEqual(['refused'])
  outages.tell('subscriber', undefined)
  outages.tell('subscriber', undefined)
  expect(said).toEqual(['refused', AGAIN])
})

it('a user that never lost the connection reports nothing', () => {
  outages.tell('commands', undefined)
  expect(said).toEqual([])
})

it('repeated short outages do not fill the log', () => {
  for (let i = 0; i < 100; i++) {
    outages.tell('commands', new Error(`reset ${i}`))
    outages.tell('commands', undefined)
    vi.advanceTimersByTime(QUIET_MS / 50)
  }
  expect(said).toEqual(['reset 0', AGAIN, 'reset 50', AGAIN])
})

it('a second lasting outage soon after the first is reported a moment later', () => {
  outages.tell('commands', new Error('first'))
  outages.tell('commands', undefined)
  outages.tell('commands', new Error('second'))
  vi.advanceTimersByTime(QUIET_MS - 1)
  expect(said).toEqual(['first', AGAIN])
  vi.advanceTimersByTime(1)
  expect(said).toEqual(['first', AGAIN, 'second'])
  vi.advanceTimersByTime(10 * QUIET_MS)
  outages.tell('commands', undefined)
  expect(said).toEqual(['first', AGAIN, 'second', AGAIN])
})
