import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepBuilds, removeOldBuilds } from '../bin/builds.js'

const NEWEST_FIRST = ['eeee', 'dddd', 'cccc', 'bbbb', 'aaaa']
let dist: string
beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'signalbox-builds-'))
  for (const name of NEWEST_FIRST) mkdirSync(join(dist, name))
})
afterEach(() => rmSync(dist, { recursive: true, force: true }))

const left = (): readonly string[] => NEWEST_FIRST.filter((name) => existsSync(join(dist, name)))
const builtLast = (kind: 'current' | 'console', folder: string): void =>
  writeFileSync(join(dist, `${kind}.json`), JSON.stringify({ sources: '', folder }))

it('two builds stay, for pages that are open', () => {
  removeOldBuilds(NEWEST_FIRST, dist)
  expect(left()).toEqual(['eeee', 'dddd'])
})

it('the build that a running gateway was started from stays, however many builds follow', () => {
  builtLast('current', 'aaaa')
  builtLast('console', 'cccc')
  keepBuilds(dist)
  builtLast('current', 'eeee')
  removeOldBuilds(NEWEST_FIRST, dist)
  expect(left()).toEqual(['eeee', 'dddd', 'cccc', 'aaaa'])
})

it('the bundle stays where no console was built', () => {
  builtLast('current', 'aaaa')
  keepBuilds(dist)
  removeOldBuilds(NEWEST_FIRST, dist)
  expect(left()).toEqual(['eeee', 'dddd', 'aaaa'])
})

it('a gateway that was killed does not keep its build', async () => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  mkdirSync(join(dist, 'in-use'))
  writeFileSync(join(dist, 'in-use', String(child.pid)), 'aaaa')
  removeOldBuilds(NEWEST_FIRST, dist)
  expect(left()).toEqual(['eeee', 'dddd'])
  expect(readdirSync(join(dist, 'in-use'))).toEqual([])
})

it('a gateway that ends while a build looks for it does not keep its build, and does not stop the new one', () => {
  mkdirSync(join(dist, 'in-use'))
  // It is listed, and gone when it is read.
  symlinkSync(join(dist, 'nowhere'), join(dist, 'in-use', String(process.pid)))
  removeOldBuilds(NEWEST_FIRST, dist)
  expect(left()).toEqual(['eeee', 'dddd'])
})

it('where nothing can be written a gateway starts all the same', () => {
  expect(() => keepBuilds(join(dist, 'current.json', 'no folder'))).not.toThrow()
})
