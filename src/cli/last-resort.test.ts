import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { handleUncaughtErrors } from './last-resort.ts'

function watched() {
  const source = new EventEmitter()
  const said: unknown[] = []
  const stops: unknown[] = []
  handleUncaughtErrors({
    process: source as unknown as NodeJS.Process,
    logger: { error: (fields, message) => void said.push([fields['error'], message]) },
    stop: (why, code) => void stops.push([why, code]),
  })
  return { source, said, stops }
}

describe('an uncaught error', () => {
  it('that is a rejection is only logged, and ends no other call', () => {
    const { source, said, stops } = watched()
    const error = new Error('lost')
    source.emit('unhandledRejection', error)
    expect(said).toEqual([[error, expect.stringContaining('calls go on')]])
    expect(stops).toEqual([])
  })

  it('that is an exception ends the process gracefully, with an exit code', () => {
    const { source, said, stops } = watched()
    const error = new Error('thrown')
    source.emit('uncaughtException', error)
    expect(said).toEqual([[error, expect.stringContaining('shutting down in order')]])
    expect(stops).toEqual([[expect.any(String), 1]])
  })
})
