import { expect, it } from 'vitest'
import { threadTime } from '../../testing/thread-time.ts'
import { BODY, inItsNames } from './names.ts'

it('renames the fields it knows, and leaves others alone', () => {
  expect(inItsNames({ system_instruction: { parts: { text: 'x' } }, my__field: 1 }, BODY)).toEqual({
    systemInstruction: { parts: [{ text: 'x' }] },
    my__field: 1,
  })
})

it('no name of a field holds up other calls (B1)', () => {
  const before = threadTime()
  // With work that grows by the square this takes minutes.
  inItsNames({ [`${'_'.repeat(1_000_000)}!`]: 1 }, BODY)
  expect(threadTime() - before).toBeLessThan(500)
})
