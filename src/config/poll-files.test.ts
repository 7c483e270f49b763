import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { changesAtRest, pollFiles } from './poll-files.ts'

let directory: string
let file: string
let end: (() => void) | undefined
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-poll-'))
  file = join(directory, 'a')
  await writeFile(file, 'one')
})
afterEach(async () => {
  end?.()
  await rm(directory, { recursive: true })
})

async function start() {
  const changed = vi.fn<() => void>()
  end = await pollFiles([file, join(directory, 'b')], 5, changed)
  return changed
}

it.each<[string, () => Promise<void>]>([
  ['written', () => writeFile(file, 'two')],
  ['written with the same length', () => writeFile(file, 'eno')],
  ['replaced', () => writeFile(join(directory, 'new'), 'one').then(() => rename(join(directory, 'new'), file))],
  ['removed', () => rm(file)],
  ['made', () => writeFile(join(directory, 'b'), 'one')],
])('tells of a file that is %s right after the call, before the first look', async (_what, change) => {
  const changed = await start()
  await change()
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 5_000 })
})

it('tells nothing while nothing changes, and nothing after its end', async () => {
  const changed = await start()
  await new Promise((resolve) => setTimeout(resolve, 50))
  end!()
  await writeFile(file, 'two')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(changed).not.toHaveBeenCalled()
})

it.each<[string, string, string]>([
  ['is written in one go', 'aabbb', '...!.'],
  ['is written in parts, whose beginning may be valid by itself', 'abcdd', '....!'],
  ['is gone for a moment while it is replaced', 'a bb', '...!'],
  ['is gone', 'a   ', '..!.'],
  ['changes twice', 'abbacc', '..!..!'],
  ['is written again and again: it is reported in the end', 'abcdefghijklm', '..........!..'],
])('a change is reported once the file rests: one that %s', (_what, looks, expected) => {
  const [first, ...others] = looks
  const isDue = changesAtRest(first!)
  expect(`.${others.map((state) => (isDue(state) ? '!' : '.')).join('')}`).toBe(expected)
})
