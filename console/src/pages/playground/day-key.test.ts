import { expect, it } from 'vitest'
import { dayKeyBody } from './day-key.ts'

const NOW = Date.parse('2026-01-31T18:00:00Z')

it('a key for a day may spend its limit once, not once on either side of midnight', () => {
  expect(dayKeyBody(1, null, NOW)).toEqual({ name: 'Playground of the web console', limit: 1, expires_at: '2026-02-01T18:00:00.000Z' })
  expect(dayKeyBody(1, 'w1', NOW)).toMatchObject({ workspace_id: 'w1' })
})

it('a limit that is still text counts as that number; an invalid or empty one makes no key', () => {
  expect(dayKeyBody('1.50', null, NOW)).toMatchObject({ limit: 1.5 })
  expect(['', '.', '0.00', 0, '-1'].map((limit) => dayKeyBody(limit, null, NOW))).toEqual([undefined, undefined, undefined, undefined, undefined])
})
