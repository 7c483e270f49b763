import { describe, expect, it } from 'vitest'
import { callBudget, DEFAULT_LOOP_LIMITS, RepeatDetector, stopReason, type LoopState } from './tool-stop.ts'

const state: LoopState = {
  steps: 1,
  calls: 1,
  called: new Set(['clock']),
  tokens: 10,
  cost: 0.1,
  reason: 'tool_calls',
  nativeReason: 'tool_use',
  elapsedMs: 5,
  repeats: 1,
}
const stop = (change: Partial<LoopState>, request: object = {}) => stopReason({ input: [], ...request }, { ...state, ...change }, DEFAULT_LOOP_LIMITS)

describe('limits that apply whatever the caller sets', () => {
  const conditions = { stop_server_tools_when: [{ type: 'step_count_is', step_count: 1_000 }] }
  it.each([
    ['repeated_call', { repeats: 3 }],
    ['wall_time', { elapsedMs: DEFAULT_LOOP_LIMITS.wallMs }],
    ['step_limit', { steps: 100 }],
  ] as const)('%s', (reason, change) => {
    expect(stop({}, conditions)).toBeUndefined()
    expect(stop(change, conditions)).toBe(reason)
  })
  it('match the native finish reason too', () =>
    expect(stop({}, { stop_server_tools_when: [{ type: 'finish_reason_is', reason: 'tool_use' }] })).toBe('finish_reason_is'))
})

it.each([
  [undefined, 30],
  [5, 5],
  [99, 30],
  [0, 0],
])('max_tool_calls %s allows %s', (given, allowed) => {
  expect(callBudget({ input: [], ...(given === undefined ? {} : { max_tool_calls: given }) })).toBe(allowed)
})

it('counts the same call with the same result, and forgets when the result changes', () => {
  const detector = new RepeatDetector()
  for (const [turn, output] of ['a', 'b', 'a', 'a'].entries()) detector.add('poll', '{}', output, turn)
  expect(detector.worst).toBe(2)
  detector.add('poll', '{"x":1}', 'a', 3)
  expect(detector.worst).toBe(2)
  detector.add('poll', '{}', 'a', 4)
  expect(detector.worst).toBe(3)
})

it('a call repeated after another action is not a repetition, and two alternating calls are', () => {
  const working = new RepeatDetector()
  for (const [turn, args] of ['test', 'edit 1', 'test', 'edit 2', 'test', 'edit 3', 'test'].entries()) working.add('shell', args, 'ok', turn)
  expect(working.worst).toBe(1)
  const circling = new RepeatDetector()
  for (const [turn, args] of ['look', 'wait', 'look', 'wait', 'look', 'wait'].entries()) circling.add('shell', args, 'ok', turn)
  expect(circling.worst).toBe(3)
})

it('counts the same call once a turn, however often a model makes it in parallel', () => {
  const detector = new RepeatDetector()
  for (const turn of [1, 1, 1, 1, 2, 2]) detector.add('poll', '{}', 'a', turn)
  expect(detector.worst).toBe(2)
  detector.add('poll', '{}', 'a', 3)
  expect(detector.worst).toBe(3)
})
