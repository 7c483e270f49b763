import { execFile } from 'node:child_process'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { startFakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** `signalbox secrets rotate` on a real data directory with pending deliveries. */
const BASE = '/api/v1/observability/destinations'
const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
let gateway: TestGateway
let receiver: FakeDestination
afterEach(async () => {
  await gateway.close()
  await receiver.close()
})

const run = async (directory: string, env: { readonly [name: string]: string } = {}) =>
  promisify(execFile)(process.execPath, [MAIN, 'secrets', 'rotate', '--data', directory], {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', SIGNALBOX_API_KEY: TEST_KEY, SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY, ...env },
  })

async function prepare(env: { readonly [name: string]: string } = {}): Promise<string> {
  receiver = await startFakeDestination()
  gateway = await startGateway({}, env)
  const config = { url: `${receiver.url}/hook`, headers: { authorization: 'Bearer canary-credential' } }
  const made = (await (await gateway.api('POST', BASE, { type: 'webhook', name: 'hook', config })).json()) as { data: { id: string } }
  await gateway.api('POST', `${BASE}/${made.data.id}/pause`)
  await gateway.respond({ model: 'demo/echo', input: 'what waited' })
  return made.data.id
}

async function untilDelivered(id: string): Promise<void> {
  await gateway.api('POST', `${BASE}/${id}/resume`)
  await expect.poll(() => receiver.accepted.length, { timeout: 10_000 }).toBe(1)
  expect(receiver.accepted[0]?.headers['authorization']).toBe('Bearer canary-credential')
  expect(receiver.accepted[0]?.body.toString()).toContain('what waited')
}

describe('signalbox secrets rotate', () => {
  it(verifies('G2', 'replaces the key file, and what waited is delivered with the new key'), async () => {
    const id = await prepare()
    const { path } = gateway.app.boot.directory
    await gateway.app.close()
    const file = join(path, 'secret.key')
    const before = await readFile(file, 'utf8')
    const { stdout } = await run(path)
    expect(stdout).toMatch(/^3 secrets are encrypted with the key \w{12} now/)
    const after = await readFile(file, 'utf8')
    expect(after).not.toBe(before)
    expect(stdout).not.toContain(after.trim())
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    // Simulates an interruption after the database changed, with both keys on disk: the next call finishes the rotation.
    await rename(file, `${file}.next`)
    await writeFile(file, before)
    expect((await run(path, { SIGNALBOX_NEW_SECRET_KEY: '' }).catch((error: Error) => error)) as { stdout: string }).toMatchObject({
      stdout: expect.stringContaining('it is finished now'),
    })
    expect(await readFile(file, 'utf8')).toBe(after)
    gateway = await gateway.restart()
    await untilDelivered(id)
  })

  it(verifies('G2', 'accepts a given key, refuses a malformed one, and a gateway with the old one does not start'), async () => {
    const old = Buffer.alloc(32, 5).toString('base64')
    const next = Buffer.alloc(32, 6).toString('base64')
    await prepare({ SIGNALBOX_SECRET_KEY: old })
    const { path } = gateway.app.boot.directory
    await gateway.app.close()
    await expect(run(path, { SIGNALBOX_SECRET_KEY: old, SIGNALBOX_NEW_SECRET_KEY: 'short' })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SIGNALBOX_NEW_SECRET_KEY must be 32 bytes in base64'),
    })
    const { stdout } = await run(path, { SIGNALBOX_SECRET_KEY: old, SIGNALBOX_NEW_SECRET_KEY: next })
    expect(stdout).toContain('Set SIGNALBOX_SECRET_KEY to the new key')
    await expect(run(path, { SIGNALBOX_SECRET_KEY: old })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not the one'),
      stdout: '',
    })
    await expect(gateway.restart()).rejects.toMatchObject({ errorType: 'precondition_failed' })
  })

  it(
    verifies('G2', 'lets a running gateway continue to record, deliver and use own provider keys'),
    async () => {
      const usage = { prompt_tokens: 1_000, completion_tokens: 1_000 }
      const message = { role: 'assistant', content: 'hi' }
      const upstream = await startFakeUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
      })
      onTestFinished(() => upstream.close())
      receiver = await startFakeDestination()
      gateway = await startGateway(chatConfig([upstream.url], { network: { allow_private: { destinations: true } } }))
      const config = { url: `${receiver.url}/hook`, headers: { authorization: 'Bearer canary-credential' } }
      await gateway.api('POST', BASE, { type: 'webhook', name: 'hook', config })
      await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-their-own-key-123456' })
      await run(gateway.app.boot.directory.path)
      const ready = async () => (await fetch(`${gateway.url}/readyz`)).json()
      await expect.poll(ready, { timeout: 5_000 }).toEqual({ status: 'ready', degraded: ['secret_key'] })

      const ids: string[] = []
      for (const input of ['one', 'two', 'three']) {
        // Long enough for every copy of the database to pick up the change.
        await setTimeout(1_000)
        ids.push(((await (await gateway.respond({ model: 'acme/small', input, stream: false })).json()) as { id: string }).id)
      }
      expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual(ids.map(() => 'Bearer sk-their-own-key-123456'))
      const sent = () => receiver.accepted.map(({ body }) => body.toString()).join('\n')
      await expect.poll(() => ids.filter((id) => !sent().includes(id)), { timeout: 10_000 }).toEqual([])
      expect(gateway.app.sink.stats()).toMatchObject({ written: 3, lost: { refused: 0 } })
      const [row] = await gateway.app.boot.store.spend.activity({ from: 0, to: Date.now() + 86_400_000 })
      expect(row).toMatchObject({ requests: 3, usd: 0 })
    },
    20_000,
  )
})
