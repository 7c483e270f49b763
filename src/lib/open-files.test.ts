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

it('the limit of open files is the soft limit of the system', () => {
  expect(
    read(
      'Limit  Soft Limit  Hard Limit  Units\nMax processes  7  8  processes\nMax open files            1024                 4096                 files\n',
    ),
  ).toBe(1024)
})

it('the limit of open files is unknown where there is none, or the system does not state it', () => {
  expect(read('Max open files            unlimited            unlimited            files\n')).toBeUndefined()
  expect(openFilesLimit(join(folder, 'missing'))).toBeUndefined()
})
