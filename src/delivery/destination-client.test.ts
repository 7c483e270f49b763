import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { startFakeUpstream, status } from '../testing/fake-upstream.ts'
import { openDestinationClient } from './destination-client.ts'

it('sends requests with the right client, and none after it is closed', async () => {
  const upstream = await startFakeUpstream(status(202, { ok: true }))
  const client = openDestinationClient({ allowPrivate: true, userAgent: 'gateway/test' })
  const send = () => client.transport({ method: 'POST', url: `${upstream.url}/in`, headers: {}, body: '{}' }, 2_000, AbortSignal.timeout(5_000))
  try {
    expect(await Promise.all([send(), send()])).toMatchObject([{ status: 202 }, { status: 202 }])
    expect(upstream.requests.map(({ headers }) => headers['user-agent'])).toEqual(['gateway/test', 'gateway/test'])
    await client.close()
    await expect(send()).rejects.toThrow()
  } finally {
    await upstream.close()
  }
})

it('tries again after it could not be loaded, as when the process has no files left', async () => {
  const upstream = await startFakeUpstream(status(202, { ok: true }))
  const modules = [Promise.reject(new Error('EMFILE: too many open files')), import('../lib/egress.ts')]
  const client = openDestinationClient({ allowPrivate: true }, () => modules.shift()!)
  const send = () => client.transport({ method: 'POST', url: `${upstream.url}/in`, headers: {}, body: '{}' }, 2_000, AbortSignal.timeout(5_000))
  try {
    await expect(send()).rejects.toThrow('EMFILE')
    expect(await send()).toMatchObject({ status: 202 })
    await client.close()
  } finally {
    await upstream.close()
  }
})

it('ends without an error after it could not be loaded', async () => {
  const client = openDestinationClient({ allowPrivate: true }, () => Promise.reject(new Error('EMFILE: too many open files')))
  const sent = client.transport({ method: 'POST', url: 'http://127.0.0.1:1/', headers: {}, body: '' }, 2_000, AbortSignal.timeout(5_000))
  await expect(Promise.all([client.close(), expect(sent).rejects.toThrow('EMFILE')])).resolves.toBeDefined()
})

it('ends without ever having been used', async () => {
  await expect(openDestinationClient({ allowPrivate: true }).close()).resolves.toBeUndefined()
})

it('does not load the HTTP client (3 MB) in a thread that sends nothing', () => {
  const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href)
  const script = `
    import { createRequire } from 'node:module'
    const clients = () => Object.keys(createRequire(${url('../')}).cache).filter((file) => file.includes('undici')).length
    await import(${url('../wiring/delivery-worker.ts')})
    const before = clients()
    await import(${url('../lib/egress.ts')})
    console.log(before, clients() > 0)`
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 60_000 }).trim()).toBe('0 true')
})
