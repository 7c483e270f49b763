import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Destination } from '../src/core/destination.ts'
import { DESTINATIONS } from '../src/destinations/index.ts'
import { destinationsPage } from './gen-destinations.ts'

describe('the reference of destinations', () => {
  it('is what the types say', () => {
    expect(readFileSync(new URL('../docs/reference/destinations.md', import.meta.url), 'utf8')).toBe(destinationsPage())
  })

  it('describes every setting of every type', () => {
    for (const { type, settings } of DESTINATIONS.values()) {
      const { properties = {} } = z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' })
      for (const [name, field] of Object.entries(properties))
        expect([type, name, typeof (field as z.core.JSONSchema.JSONSchema).description]).toEqual([type, name, 'string'])
    }
  })

  it('marks what is required, secret and preset', () => {
    const plain: Destination = {
      type: 'plain',
      name: 'Plain',
      settings: z.strictObject({ token: z.string().describe('a|b'), size: z.number().default(3).describe('How many.') }),
      secrets: ['token'],
      limits: { records: 7, bytes: 2_500_000, maxAgeMs: 3_600_000 },
      encode: () => [],
      probe: () => [],
    }
    const page = destinationsPage([plain])
    expect(page).toContain('| `token` | required, secret |  | a\\|b |')
    expect(page).toContain('| `size` |  | `3` | How many. |')
    expect(page).toContain('At most 7 generations and 2.5 MB at a time, after at most 2 s; no older than 1 h')
    expect(destinationsPage([{ ...plain, limits: { records: 7, bytes: 2_500_000 } }])).toContain('after at most 2 s; waiting no longer than 7 days')
  })
})
