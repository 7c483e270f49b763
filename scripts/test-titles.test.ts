import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findTest, readTitles } from './test-titles.ts'

const SOURCE = `
describe('group', () => {
  const helper = () => it.notATest
  it('plain', () => {})
  it.each([['one case', 1]])('table of %s', () => {})
  describe.skipIf(x)(verifies('P1', 'inner'), () => { test(\`last\`, async () => { it(computed, () => {}) }) })
})
it.each(rows)('%s', () => {})
`

describe('titles of a file', () => {
  it('are read without running it, groups before what they hold', () => {
    expect(readTitles(SOURCE)).toEqual([
      ['group'],
      ['group', 'plain'],
      ['group', 'table of %s'],
      ['group', 'inner'],
      ['group', 'inner', 'last'],
      ['%s'],
    ])
  })
})

describe('a reference', () => {
  const root = mkdtempSync(join(tmpdir(), 'titles-'))
  mkdirSync(join(root, 'a/__fixtures__/requests'), { recursive: true })
  writeFileSync(join(root, 'a/x.test.ts'), SOURCE)
  writeFileSync(join(root, 'a/__fixtures__/requests/golden.json'), '{}')
  afterAll(() => rmSync(root, { recursive: true }))

  it.each([
    'x: group > plain',
    'x: group',
    'x: group > table of one case',
    'x: group > table of %s',
    'x: golden',
    'a/x.test.ts: group > inner > last',
  ])('%s is found', (reference) => {
    expect(findTest(root, 'a', reference)).toEqual({ file: 'a/x.test.ts' })
  })
  it.each([
    ['x: group > gone', 'no test "group > gone" in a/x.test.ts'],
    ['x: inner > last', 'no test "inner > last" in a/x.test.ts'],
    ['x: group > table of another case', 'no test "group > table of another case" in a/x.test.ts'],
    ['y: group', 'no file a/y.test.ts'],
  ])('%s is not', (reference, missing) => {
    expect(findTest(root, 'a', reference)).toEqual({ missing })
  })
})
