import { mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { writeDurably } from './durable-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-durable-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('a file is written for its owner alone, and one that is there stays as it is', async () => {
  const path = join(folder, 'file')
  await writeDurably(path, 'first')
  await expect(writeDurably(path, 'second')).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await readFile(path, 'utf8')).toBe('first')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

it.each(['writeFile', 'sync'] as const)('of a file that a full disk cuts (%s), nothing stays, so that it can be written later', async (method) => {
  const path = join(folder, 'file')
  const handle = await open(folder, 'r')
  await handle.close()
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const spy = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, method).mockRejectedValue(full)
  try {
    await expect(writeDurably(path, 'text')).rejects.toBe(full)
  } finally {
    spy.mockRestore()
  }
  expect(await readdir(folder)).toEqual([])
  await writeDurably(path, 'text')
})
