import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { logOutput } from './log-output.ts'

let directory: string
let pipe: number

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-log-'))
  execFileSync('mkfifo', [join(directory, 'pipe')])
  // Opened for both reading and writing, so that opening does not block.
  pipe = openSync(join(directory, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK)
})
afterEach(() => {
  closeSync(pipe)
  rmSync(directory, { recursive: true })
})

/** What is in the pipe at the moment. */
function read(): string {
  const chunk = Buffer.alloc(4 * 1024 * 1024)
  let text = ''
  try {
    for (;;) text += chunk.toString('utf8', 0, readSync(pipe, chunk))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
  }
  return text
}

/** For programs passed to Node as text. */
const MODULE = JSON.stringify(join(import.meta.dirname, 'log-output.ts'))
const LINE = `${'x'.repeat(99)}\n`

describe('a log without a reader', () => {
  it('does not block: lines wait until its reader continues, none torn and none missing', async () => {
    const output = logOutput(pipe)
    const began = performance.now()
    for (let i = 0; i < 2_000; i++) output.write(LINE)
    expect(performance.now() - began).toBeLessThan(1_000)
    let text = read()
    expect(text.length).toBeLessThan(LINE.length * 2_000)
    await expect.poll(() => (text += read()).length, { timeout: 10_000 }).toBe(LINE.length * 2_000)
    expect(text === LINE.repeat(2_000)).toBe(true)
  })

  it('keeps a megabyte of lines and drops what comes beyond', async () => {
    const output = logOutput(pipe)
    for (let i = 0; i < 20_000; i++) output.write(LINE)
    let text = read()
    // The content of the pipe and of the buffer.
    await expect.poll(() => (text += read()).length, { timeout: 10_000 }).toBeGreaterThan(1_100_000)
    output.write('the next\n')
    await expect.poll(() => (text += read()).endsWith('the next\n'), { timeout: 10_000 }).toBe(true)
    expect(text.length).toBeLessThan(1_200_000)
  })

  it('does not block after a child process has made the pipe blocking', () => {
    // Standard streams that are handed to a child process become blocking when it starts.
    const program = `import { spawnSync } from 'node:child_process'
      const { logOutput } = await import(${MODULE})
      const output = logOutput(2)
      spawnSync('true', { stdio: ['ignore', 'ignore', 2] })
      for (let i = 0; i < 2_000; i++) output.write('x'.repeat(99) + '\\n')
      process.exit(7)`
    // A descriptor of its own: the reader's below must stay non-blocking.
    const inherited = openSync(join(directory, 'pipe'), constants.O_WRONLY)
    const stdio = ['ignore', 'ignore', inherited] as const
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: [...stdio], timeout: 5_000 })
    closeSync(inherited)
    expect(status).toBe(7)
    expect(read().startsWith(LINE)).toBe(true)
  })
})

it('a log does not fail when the disk is full, and keeps trying', () => {
  const full = openSync('/dev/full', 'w')
  // In a process of its own: lines that still wait when the file is closed would be written to whatever gets the same descriptor next, such as a socket.
  const program = `const { logOutput } = await import(${MODULE})
    const output = logOutput(2)
    for (let i = 0; i < 10; i++) output.write('x'.repeat(99) + '\\n')
    setTimeout(() => process.exit(7), 500)`
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'ignore', full], timeout: 10_000 })
  closeSync(full)
  expect(status).toBe(7)
})
