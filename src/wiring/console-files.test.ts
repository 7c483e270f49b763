import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findConsole } from './console-files.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'signalbox-console-'))
  const build = join(place, 'console-1')
  mkdirSync(build)
  writeFileSync(join(place, 'console.json'), JSON.stringify({ sources: '', folder: 'console-1' }))
  writeFileSync(join(build, 'files.json'), JSON.stringify([{ path: 'index.html', type: 'text/html', encodings: ['br'] }]))
  writeFileSync(join(build, 'index.html'), 'plain')
  writeFileSync(join(build, 'index.html.br'), 'small')
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

it('the console is the last build, with each file in its compressed form', async () => {
  const files = findConsole(['/nowhere', place])
  const page = files?.get('index.html')
  expect([files?.build, page?.type]).toEqual(['console-1', 'text/html'])
  expect((await files!.read(page!, undefined)).toString()).toBe('plain')
  expect((await files!.read(page!, 'br')).toString()).toBe('small')
  expect([files?.get('files.json'), files?.get('../console.json')]).toEqual([undefined, undefined])
})

it('there is no console without a build, or with an incomplete one', () => {
  expect(findConsole(['/nowhere'])).toBeUndefined()
  rmSync(join(place, 'console-1', 'files.json'))
  expect(findConsole([place])).toBeUndefined()
})

it('a console file that was replaced under a running gateway is reported as such, not as an error of the gateway', async () => {
  const files = findConsole([place])!
  rmSync(join(place, 'console-1'), { recursive: true })
  await expect(files.read(files.get('index.html')!, 'br')).rejects.toMatchObject({ errorType: 'not_found', message: /built anew/ })
})
