import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fewThreads } from '../../bin/server-process.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const ENTRY = join(import.meta.dirname, '../../bin/signalbox.js')
const OPTION = '--gc-memory-reducer-start-delay-ms'
let directory: string
let child: ChildProcess | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-process-'))
})
afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  child = undefined
  rmSync(directory, { recursive: true, force: true })
})

interface Seen {
  readonly options: readonly string[]
  readonly environment: readonly string[]
}

/** Starts a gateway and, once it serves, returns the options and environment that it runs with. */
async function serve(options: readonly string[] = [], env: { readonly [name: string]: string } = {}): Promise<Seen> {
  const started = spawn(process.execPath, [...options, ENTRY, 'serve'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, SIGNALBOX_PORT: '0', SIGNALBOX_DATA_DIR: join(directory, 'data'), ...env },
  })
  child = started
  let output = ''
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await expect.poll(() => output, { timeout: 15_000, interval: 20 }).toMatch(/listens on \S+/)
  const read = (file: string): string[] => readFileSync(`/proc/${started.pid}/${file}`, 'utf8').split('\0')
  const words = read('cmdline')
  expect(words.slice(words.indexOf(ENTRY))).toEqual([ENTRY, 'serve', ''])
  return { options: words.slice(1, words.indexOf(ENTRY)), environment: read('environ') }
}

describe.skipIf(process.platform !== 'linux')('the process of a server', () => {
  it('starts with the server settings of V8 and the C library, under the process id its parent knows', async () => {
    const { options, environment } = await serve(['--max-old-space-size=1000'], { MINE: 'stays' })
    expect(options).toEqual([`${OPTION}=300000`, '--max-old-space-size=1000'])
    expect(environment).toEqual(
      expect.arrayContaining(['MALLOC_ARENA_MAX=1', 'MALLOC_TRIM_THRESHOLD_=262144', 'UV_THREADPOOL_SIZE=16', 'MINE=stays']),
    )
  })

  it('ends gracefully when its parent tells it to', async () => {
    await serve()
    const ended = once(child!, 'exit')
    child!.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('keeps the operator’s settings of the allocator and of threads', async () => {
    const { options, environment } = await serve([], { MALLOC_ARENA_MAX: '4', UV_THREADPOOL_SIZE: '6' })
    expect(options).toEqual([`${OPTION}=300000`])
    expect(environment).toEqual(expect.arrayContaining(['MALLOC_ARENA_MAX=4', 'UV_THREADPOOL_SIZE=6']))
    expect(environment).not.toContain('UV_THREADPOOL_SIZE=16')
    expect(environment).not.toContain('MALLOC_ARENA_MAX=1')
  })

  it.each([
    ['is told to stay', [], { SIGNALBOX_BEGIN_AGAIN: 'never' }],
    ['was given the option of V8', [`${OPTION}=60000`], {}],
    ['is watched by a debugger', ['--inspect=127.0.0.1:0'], {}],
    ['may not start processes', ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-worker'], {}],
    ['has a path that is not UTF-8', [], { STRANGE: 'caf\uFFFD' }],
  ])('is not restarted when it %s', async (_, given, env) => {
    const { options, environment } = await serve(given, env)
    expect(options).toEqual(given)
    expect(environment.some((entry) => entry.startsWith('MALLOC_'))).toBe(false)
  })
})

describe('a machine that does not give a server its threads', () => {
  const files = (more: { readonly [file: string]: string }) => (file: string) => {
    const known: { readonly [file: string]: string } = { '/proc/self/status': 'Name:\tnode\nThreads:\t11\n', ...more }
    if (known[file] === undefined) throw new Error('ENOENT')
    return known[file]
  }
  const limits = (most: string): { readonly [file: string]: string } => ({
    '/proc/self/limits': `Limit                     Soft Limit           Hard Limit\nMax processes             ${most.padEnd(20)} unlimited            processes\n`,
  })
  const group = (most: string, current: string) => ({ '/sys/fs/cgroup/pids.max': `${most}\n`, '/sys/fs/cgroup/pids.current': `${current}\n` })

  it.each<readonly [string, { readonly [file: string]: string }, number, string]>([
    ['the limit of its user', limits('12'), 1000, '(ulimit -u) leaves it 12'],
    ['the limit of its container', group('30', '15'), 0, '(pids.max, TasksMax) leaves it 26'],
    ['the smaller of both', { ...limits('27'), ...group('20', '11') }, 1000, 'leaves it 20'],
  ])('is named before the process may end without a word: %s', (_name, more, uid, note) => {
    expect(fewThreads(files(more), uid)).toContain(note)
  })

  it.each<readonly [string, { readonly [file: string]: string }, number]>([
    ['no limit', { ...limits('unlimited'), ...group('max', '11') }, 1000],
    ['enough', { ...limits('4096'), ...group('100', '11') }, 1000],
    ['a limit that root is not held to', limits('12'), 0],
    ['none of the files', {}, 1000],
  ])('is not suspected with %s', (_name, more, uid) => expect(fewThreads(files(more), uid)).toBeUndefined())
})
