import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REQUIREMENTS, verifies } from './requirements.ts'

const root = join(import.meta.dirname, '..')

/** Ids by the test files that cite them. The citations are read from the sources, so that no run of the whole suite is needed. */
function citations(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const file of globSync('{src,e2e,scripts,bench}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**', 'e2e/coverage.test.ts'] })) {
    for (const [, ids = ''] of readFileSync(join(root, file), 'utf8').matchAll(/\bverifies\(\s*((?:'[\w-]+',\s*)+)/g)) {
      for (const [, id = ''] of ids.matchAll(/'([\w-]+)'/g)) found.set(id, [...(found.get(id) ?? []), file])
    }
  }
  return found
}

describe('requirements', () => {
  const cited = citations()

  it.each(Object.keys(REQUIREMENTS))('%s has a test', (id) => {
    expect(cited.get(id) ?? []).not.toEqual([])
  })
  it('that tests cite exist', () => {
    expect([...cited.keys()].filter((id) => !(id in REQUIREMENTS))).toEqual([])
  })
  it('stand in the titles of their tests', () => {
    expect(verifies('P12', 'P13', 'a title')).toBe('a title (P12, P13)')
  })
})
