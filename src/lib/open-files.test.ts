import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openFilesLimit } from './open-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'signalbox-limits-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const read = (text: string): number | undefined => {
  const path = join(folder, 'limits')
  writeFileSync(path, text)
  return openFilesLimit(path)
}

it('is the soft limit the system states', () => {
  expect(
    read(
      'Limit  Soft Limit  Hard Limit  Units\nMax processes  7  8  processes\nMax open files            1024                 4096                 files\n',
    ),
  ).toBe(1024)
})

it('is unknown where there is none, or nobody says', () => {
  expect(read('Max open files            unlimited            unlimited            files\n')).toBeUndefined()
  expect(openFilesLimit(join(folder, 'missing'))).toBeUndefined()
})
