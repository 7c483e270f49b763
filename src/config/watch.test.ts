import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../core/config.ts'
import type { GatewayError } from '../core/error.ts'
import { loadConfig, type LoadOptions } from './load.ts'
import { restartNeeded, watchConfig, type ConfigWatch } from './watch.ts'
import { verifies } from '../../e2e/requirements.ts'

let cwd: string
let file: string
let options: LoadOptions
let watch: ConfigWatch | undefined

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'signalbox-watch-'))
  file = join(cwd, 'signalbox.yaml')
  options = { cwd, env: {} }
  await writeFile(file, 'defaults: { model: a/one }')
})
afterEach(async () => {
  watch?.close()
  await rm(cwd, { recursive: true })
})

async function start() {
  const changes: Config[] = []
  const problems: GatewayError[] = []
  watch = await watchConfig(await loadConfig(options), options, {
    onChange: (next) => void changes.push(next),
    onProblem: (error) => void problems.push(error),
  })
  return { watch, changes, problems }
}

describe('a watched configuration', () => {
  test('reloads when its file is replaced', async () => {
    const { watch, changes } = await start()
    await writeFile(join(cwd, 'new'), 'defaults: { model: a/two }')
    await rename(join(cwd, 'new'), file)
    await vi.waitFor(() => expect(watch.current().defaults.model).toBe('a/two'), { timeout: 5_000 })
    expect(changes).toHaveLength(1)
  })

  test('is read again if it could not be read for a reason that passes, although nothing about the file changes then', async () => {
    const { watch, problems } = await start()
    const read = vi.spyOn(fs.promises, 'readFile')
    for (let n = 0; n < 2; n++) read.mockRejectedValueOnce(Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
    syncBuiltinESMExports()
    onTestFinished(() => {
      read.mockRestore()
      syncBuiltinESMExports()
    })
    await writeFile(file, 'defaults: { model: a/two }')
    expect(await watch.reload()).toBe(false)
    await vi.waitFor(() => expect(watch.current().defaults.model).toBe('a/two'), { timeout: 5_000 })
    // The same failure is told once, however often it is tried.
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('cannot be read (EMFILE)')])
  })

  test.each([
    ['replaced', true],
    ['made', false],
  ])('takes over a file that is %s while the program starts', async (_what, isThere) => {
    if (!isThere) await rm(file)
    const initial = await loadConfig(options)
    await writeFile(file, 'defaults: { model: a/meanwhile }')
    const problems: GatewayError[] = []
    watch = await watchConfig(initial, options, { onChange: () => undefined, onProblem: (error) => void problems.push(error) })
    expect(watch.current().defaults.model).toBe('a/meanwhile')
    expect(problems).toEqual([])
  })

  test('that came through a pipe is read once: it is not polled, and a reload says why it has no effect', { timeout: 5_000 }, async () => {
    const pipe = join(cwd, 'pipe')
    execFileSync('mkfifo', [pipe])
    const [initial] = await Promise.all([loadConfig({ ...options, file: pipe }), writeFile(pipe, 'defaults: { model: a/piped }')])
    const problems: GatewayError[] = []
    watch = await watchConfig(initial, options, { onChange: () => undefined, onProblem: (error) => void problems.push(error) })
    expect([watch.current().defaults.model, problems]).toEqual(['a/piped', []])
    expect(await watch.reload()).toBe(false)
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('is no file that can be read again')])
  })

  test('says why it has no effect if a pipe takes its place, and goes on with the next file', { timeout: 5_000 }, async () => {
    const problems: GatewayError[] = []
    watch = await watchConfig(await loadConfig(options), options, { onChange: () => undefined, onProblem: (error) => void problems.push(error) })
    await rm(file)
    execFileSync('mkfifo', [file])
    expect(await watch.reload()).toBe(false)
    expect(problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('is no file that can be read again'))
    await rm(file)
    await writeFile(file, 'defaults: { model: a/again }')
    expect(await watch.reload()).toBe(true)
    expect(watch.current().defaults.model).toBe('a/again')
  })

  test('a pipe that takes the place where there was no file blocks nothing either', { timeout: 5_000 }, async () => {
    await rm(file)
    const { watch, problems } = await start()
    execFileSync('mkfifo', [file])
    expect(await watch.reload()).toBe(false)
    expect(problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('is no file that can be read again'))
  })

  test('keeps what it started with when the file goes wrong while the program starts, and says so', async () => {
    const initial = await loadConfig(options)
    await writeFile(file, 'defaults: { mode: a/wrong }')
    const problem = vi.fn()
    watch = await watchConfig(initial, options, { onChange: () => undefined, onProblem: problem })
    expect(watch.current().defaults.model).toBe('a/one')
    expect(problem).toHaveBeenCalledOnce()
  })

  test('keeps the last good one where the file is wrong, and says what waits for a restart', async () => {
    const initial = await loadConfig(options)
    await writeFile(file, 'defaults: { mode: a/wrong }')
    const told: (readonly string[])[] = []
    const problem = vi.fn()
    const lastGood = { file, text: 'server: { port: 1 }\ndefaults: { model: a/good }' }
    watch = await watchConfig(initial, options, { onChange: (_next, _previous, restart) => void told.push(restart), onProblem: problem }, lastGood)
    expect(watch.current().defaults.model).toBe('a/good')
    expect(told).toEqual([['server.port']])
    expect(problem).toHaveBeenCalledOnce()
  })

  test('reloads nothing when the file is as it was read', async () => {
    expect((await start()).changes).toEqual([])
  })

  test('reloads nothing while there is no file', async () => {
    await rm(file)
    const { changes } = await start()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(changes).toHaveLength(0)
  })

  test('takes over a file that is made later', async () => {
    await rm(file)
    const { watch } = await start()
    await writeFile(file, 'defaults: { model: a/late }')
    await vi.waitFor(() => expect(watch.current().defaults.model).toBe('a/late'), { timeout: 5_000 })
  })

  test('compares with the running settings, not with the previous file, to say what needs a restart', async () => {
    const told: (readonly string[])[] = []
    watch = await watchConfig(await loadConfig(options), options, {
      onChange: (_next, _previous, restart) => void told.push(restart),
      onProblem: () => undefined,
    })
    for (const text of ['server: { port: 8799 }', 'server: { port: 8799 }\ndefaults: { model: a/two }', 'server: { port: 8787 }']) {
      await writeFile(file, text)
      await watch.reload()
    }
    expect(told).toEqual([['server.port'], ['server.port'], []])
  })

  test('reloads on SIGHUP', async () => {
    const { watch } = await start()
    await writeFile(file, 'defaults: { model: a/three }')
    process.emit('SIGHUP')
    await vi.waitFor(() => expect(watch.current().defaults.model).toBe('a/three'), { timeout: 5_000 })
  })

  test(verifies('I10', 'keeps the last good one and says why'), async () => {
    const { watch, changes, problems } = await start()
    await writeFile(file, 'defaults: { mode: a/four }')
    expect(await watch.reload()).toBe(false)
    expect(watch.current().defaults.model).toBe('a/one')
    expect(changes).toHaveLength(0)
    expect(problems[0]?.message).toContain('defaults.mode (line 1): unknown key; did you mean model?')
    await writeFile(file, 'defaults: { model: a/five }')
    expect(await watch.reload()).toBe(true)
    expect(watch.current().defaults.model).toBe('a/five')
  })

  test.each([
    ['is deleted', () => rm(file), 'cannot be read'],
    ['is deleted while another of the names it could have is there', () => rename(file, join(cwd, 'signalbox.yml')), 'cannot be read'],
    ['is emptied', () => writeFile(file, ''), 'empty'],
    ['has nothing left but comments', () => writeFile(file, '# limits: { credits: 5 }\n'), 'empty'],
  ])(verifies('I10', 'keeps the last good one when its file %s, and says so'), async (_what, spoil, reason) => {
    const { watch, changes, problems } = await start()
    await spoil()
    expect(await watch.reload()).toBe(false)
    expect(watch.current().defaults.model).toBe('a/one')
    expect(changes).toHaveLength(0)
    expect(problems[0]?.message).toContain(reason)
    await writeFile(file, 'defaults: { model: a/back }')
    expect(await watch.reload()).toBe(true)
    expect(watch.current().defaults.model).toBe('a/back')
  })

  test(verifies('I10', 'keeps the settings of a file that was created later when that file is removed'), async () => {
    await rm(file)
    const { watch } = await start()
    await writeFile(file, 'defaults: { model: a/late }')
    expect(await watch.reload()).toBe(true)
    await rm(file)
    expect(await watch.reload()).toBe(false)
    expect(watch.current().defaults.model).toBe('a/late')
  })

  test('goes back to the defaults where the file says so', async () => {
    const { watch } = await start()
    await writeFile(file, '{}')
    expect(await watch.reload()).toBe(true)
    expect(watch.current().defaults.model).toBeUndefined()
  })

  test('may start with an empty file', async () => {
    await writeFile(file, '')
    expect((await start()).watch.current().file).toBe(file)
  })

  test(verifies('I10', 'keeps the last good one when the new one cannot be put in force'), async () => {
    const refusal = vi.fn()
    watch = await watchConfig(await loadConfig(options), options, {
      onChange: () => {
        throw new Error('no such dialect')
      },
      onProblem: refusal,
    })
    await writeFile(file, 'defaults: { model: a/six }')
    expect(await watch.reload()).toBe(false)
    expect(watch.current().defaults.model).toBe('a/one')
    expect(refusal).toHaveBeenCalledOnce()
  })

  test('a closed watch leaves no listener behind', async () => {
    const before = process.listenerCount('SIGHUP')
    const { watch } = await start()
    expect(process.listenerCount('SIGHUP')).toBe(before + 1)
    watch.close()
    expect(process.listenerCount('SIGHUP')).toBe(before)
  })
})

test('settings that need a restart are named', async () => {
  const before = await loadConfig(options)
  const after = await loadConfig({ ...options, overrides: { port: 9, dataDir: 'elsewhere' }, env: { SIGNALBOX_DATABASE_URL: 'postgres://db/x' } })
  expect(restartNeeded(before, before)).toEqual([])
  expect(restartNeeded(before, after)).toEqual(['server.port', 'storage.data_dir', 'storage.database', 'storage.url'])
  // The body limit is given to the routes, the namespace to the connection, when they are made.
  await writeFile(file, 'server: { body_limit: 1kB }\nstorage: { redis_namespace: other }')
  expect(restartNeeded(before, await loadConfig(options))).toEqual(['server.body_limit', 'storage.redis_namespace'])
  await writeFile(file, 'logging: { level: debug, format: pretty }\ndestinations: { privacy_locked: true }')
  expect(restartNeeded(before, await loadConfig(options))).toEqual(['destinations.privacy_locked', 'logging.level', 'logging.format'])
})
