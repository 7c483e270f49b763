import { describe, expect, it } from 'vitest'
import { describeSkips } from './skip-reporter.ts'

describe('describeSkips', () => {
  const skips = { passed: 3, failed: 0, skipped: 2, skippedSuites: ['src/store/postgres.test.ts > PostgreSQL (2)'] }

  it('is silent when everything ran', () => {
    expect(describeSkips({ ...skips, skipped: 0, skippedSuites: [] }, false)).toBe('')
  })

  it('names what did not run and how many tests that is', () => {
    expect(describeSkips(skips, false)).toContain('SKIPPED: 2 tests did not run')
    expect(describeSkips(skips, false)).toContain('  - src/store/postgres.test.ts > PostgreSQL (2)\n')
  })

  it('says when a skip is a failure', () => {
    expect(describeSkips(skips, true)).toContain('SIGNALBOX_FORBID_SKIPS')
  })
})
