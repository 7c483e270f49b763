import { appendFile, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { file } from './file.ts'

testDestination(file, {
  config: { path: 'team/generations.ndjson', rotateBytes: 2_000_000 },
  required: [],
  defaults: { path: 'generations.ndjson', rotateBytes: 100_000_000 },
  invalid: [{ path: '../x' }, { path: '/etc/passwd' }, { path: 'a/../../b' }, { path: 'a//b' }, { path: '.ssh/x' }, { path: 'a\0b' }, { path: '' }],
})

describe('the file', () => {
  let directory = ''
  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'signalbox-file-'))))
  afterEach(() => rm(directory, { recursive: true }))

  const send = async (request: Partial<OutgoingRequest>, at: string | undefined = directory, now = 0): Promise<OutgoingResponse | undefined> =>
    file.transport?.(
      { method: 'POST', url: 'file:///a/b.ndjson', headers: {}, ...request },
      { destinationId: 'd', serviceName: 's', serviceVersion: '1', now, attempt: 0, ...(at === '' ? {} : { directory: at }) },
      new AbortController().signal,
    )

  it('grows by every batch and is private to its owner', async () => {
    await send({ body: 'one\n' })
    await send({ body: 'two\n' })
    expect(await readFile(join(directory, 'a/b.ndjson'), 'utf8')).toBe('one\ntwo\n')
    expect((await stat(join(directory, 'a/b.ndjson'))).mode & 0o077).toBe(0)
  })

  it('holds whole lines, though others write to it at the same time', async () => {
    const lines = (word: string): string => `${JSON.stringify({ word, text: word.repeat(100_000) })}\n`.repeat(20)
    await Promise.all(['a', 'b', 'c'].map((word) => send({ body: lines(word) })))
    const written = (await readFile(join(directory, 'a/b.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(written).toHaveLength(60)
    expect(new Set(written).size).toBe(3)
  })

  it('starts a new line after half a line that a killed process left', async () => {
    await send({ body: 'one\n' })
    await appendFile(join(directory, 'a/b.ndjson'), '{"half')
    await send({ body: 'two\n' })
    await send({ body: 'three\n' })
    expect(await readFile(join(directory, 'a/b.ndjson'), 'utf8')).toBe('one\n{"half\ntwo\nthree\n')
  })

  it('does not take a line that another process is writing for half a line', async () => {
    await send({ body: 'one\n' })
    const other = await open(join(directory, 'a/b.ndjson'), 'a')
    try {
      await other.write('{"half')
      const sent = send({ body: 'two\n' })
      await setTimeout(5)
      await other.write('":1}\n')
      await sent
    } finally {
      await other.close()
    }
    expect(await readFile(join(directory, 'a/b.ndjson'), 'utf8')).toBe('one\n{"half":1}\ntwo\n')
  })

  it('is renamed when it is full', async () => {
    await send({ body: 'one\n', headers: { 'x-rotate-bytes': '3' } })
    await send({ body: 'two\n', headers: { 'x-rotate-bytes': '3' } })
    expect(await readFile(join(directory, 'a/b.ndjson.1'), 'utf8')).toBe('one\n')
    expect(await readFile(join(directory, 'a/b.ndjson'), 'utf8')).toBe('two\n')
  })

  it('is renamed once, though several find it full at the same time', async () => {
    const old = `${'o'.repeat(1_000)}\n`
    await send({ body: old })
    const words = ['a', 'b', 'c', 'd']
    await Promise.all(words.map((word) => send({ body: `${word}\n`, headers: { 'x-rotate-bytes': '1000' } })))
    const read = (name: string): Promise<string> => readFile(join(directory, 'a', name), 'utf8').catch(() => '')
    const [before, after] = [await read('b.ndjson.1'), await read('b.ndjson')]
    expect(before.startsWith(old)).toBe(true)
    expect((before + after).slice(old.length).trimEnd().split('\n').toSorted()).toEqual(words)
    expect(await readdir(join(directory, 'a'))).not.toContain('.b.ndjson.rotating')
  })

  it('is renamed by the next writer, even if a process was killed while renaming it', async () => {
    await send({ body: 'one\n' })
    await writeFile(join(directory, 'a/.b.ndjson.rotating'), '')
    const full = { headers: { 'x-rotate-bytes': '3' } }
    await send({ body: 'two\n', ...full }, directory, Date.now() + 120_000)
    await send({ body: 'three\n', ...full })
    expect(await readFile(join(directory, 'a/b.ndjson.1'), 'utf8')).toBe('one\ntwo\n')
    expect(await readFile(join(directory, 'a/b.ndjson'), 'utf8')).toBe('three\n')
  })

  it('is renamed by the next writer, even if the clock was set back after a process was killed while renaming it', async () => {
    await send({ body: 'one\n' })
    await writeFile(join(directory, 'a/.b.ndjson.rotating'), '')
    const full = { headers: { 'x-rotate-bytes': '3' } }
    await send({ body: 'two\n', ...full }, directory, Date.now() - 86_400_000)
    await send({ body: 'three\n', ...full }, directory, Date.now() - 86_400_000)
    expect(await readFile(join(directory, 'a/b.ndjson'), 'utf8')).toBe('three\n')
  })

  it("stays below the operator's directory, which must be named", async () => {
    expect((await send({}, ''))?.status).toBe(403)
    const outside = await mkdtemp(join(tmpdir(), 'signalbox-outside-'))
    await writeFile(join(outside, 'keep'), '')
    await symlink(outside, join(directory, 'a'))
    expect((await send({ body: 'x' }))?.status).toBe(403)
    await symlink(join(outside, 'keep'), join(directory, 'link.ndjson'))
    expect((await send({ url: 'file:///link.ndjson', body: 'x' }))?.status).toBe(403)
    expect(await readFile(join(outside, 'keep'), 'utf8')).toBe('')
    await rm(outside, { recursive: true })
  })
})
