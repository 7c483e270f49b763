import { describe, expect, it } from 'vitest'
import type { TestModule } from 'vitest/node'
import { describeSkips, summarise } from './skip-reporter.ts'

describe('describeSkips', () => {
  const skips = { passed: 3, failed: 0, skipped: 2, skippedSuites: ['src/store/postgres.test.ts > PostgreSQL (2)'], failures: [] }

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

describe('summarise', () => {
  const test = (state: string, message?: string) => ({
    fullName: `is ${state}`,
    result: () => ({ state, errors: message === undefined ? undefined : [{ message }] }),
    parent: { type: 'suite', fullName: 'a suite' },
  })
  const module = (tests: readonly object[], errors: readonly object[] = []): TestModule =>
    ({ relativeModuleId: 'src/a.test.ts', errors: () => errors, children: { allTests: () => tests } }) as unknown as TestModule

  it('counts, and names what failed with the first line of its reason', () => {
    const modules = [module([test('passed'), test('failed', 'expected 1 to be 2\n  at a line'), test('skipped')])]
    expect(summarise(modules, [])).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      skippedSuites: ['src/a.test.ts > a suite (1)'],
      failures: ['src/a.test.ts > is failed: expected 1 to be 2'],
    })
  })

  it('counts a file that cannot be loaded and an error outside any test', () => {
    const { failed, failures } = summarise([module([], [{ message: 'no such file' }])], [{ message: 'thrown later' }])
    expect(failed).toBe(2)
    expect(failures).toEqual(['outside any test: thrown later', 'src/a.test.ts: no such file'])
  })
})
