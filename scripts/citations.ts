import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Files that mention citations without making any. */
const EXCLUDED = ['**/node_modules/**', 'e2e/coverage.test.ts', 'scripts/test-titles.test.ts']

/** The test files that cite each requirement, sorted, by the requirement's id. Citations are read from the sources, so that no test run is needed. */
export function readCitations(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>()
  for (const file of globSync('{src,e2e,scripts,bench}/**/*.test.ts', {
    cwd: ROOT,
    exclude: EXCLUDED,
  }).sort()) {
    for (const [, ids = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(/\bverifies\(\s*((?:'[\w-]+',\s*)+)/g)) {
      for (const [, id = ''] of ids.matchAll(/'([\w-]+)'/g)) found.set(id, (found.get(id) ?? new Set()).add(file))
    }
  }
  return new Map([...found].map(([id, files]) => [id, [...files]]))
}
