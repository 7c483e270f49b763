import { expect, it } from 'vitest'
import { toDeliveryRecord } from '../../delivery/record.ts'
import { fullGeneration, SAMPLE_TIME } from '../../testing/sample-generations.ts'
import { traceSteps } from './trace-steps.ts'

it('steps never end before they start, whatever the clock did', () => {
  const { generation, content } = fullGeneration()
  const [attempt] = generation.attempts
  const record = toDeliveryRecord({ ...generation, endedAt: SAMPLE_TIME - 5_000, attempts: [{ ...attempt!, durationMs: -3 }] }, content, {
    privacyMode: false,
    broadcast: { cost: false, identity: false, requestContext: false },
  })
  const steps = traceSteps(record)
  expect(steps.map(({ kind }) => kind)).toEqual(['wrapper', 'generation', 'attempt', 'tool'])
  for (const { startedAt, endedAt } of steps) expect(endedAt).toBeGreaterThanOrEqual(startedAt)
})
