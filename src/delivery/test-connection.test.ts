import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { createEgress, type Egress } from '../lib/egress.ts'
import type { Destination } from '../core/destination.ts'
import { z } from 'zod'
import { answer, ok, startFakeDestination, type FakeDestination } from '../testing/fake-destination.ts'
import { verifies } from '../../e2e/requirements.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { minimalGeneration } from '../testing/sample-generations.ts'
import { sendSample } from './send-sample.ts'
import { testConnection, type ConnectionTest } from './test-connection.ts'
import { createTransport } from './transport.ts'

let receiver: FakeDestination
let egress: Egress
beforeEach(async () => {
  receiver = await startFakeDestination()
  egress = createEgress({ allowPrivate: true })
})
afterEach(() => Promise.all([egress.close(), receiver.close()]))

const run = async (url = receiver.url, changes: Partial<Destination> = {}): Promise<ConnectionTest> => {
  const type: Destination = {
    type: 'plain',
    name: 'Plain',
    settings: z.unknown(),
    secrets: [],
    limits: { records: 1, bytes: 10_000 },
    encode: () => [],
    probe: () => [
      { name: 'sign in', request: { method: 'GET', url: `${url}/me`, headers: {} } },
      {
        name: 'find the table',
        request: { method: 'GET', url: `${url}/table`, headers: {} },
        check: ({ body }) => (body.toString().includes('traces') ? undefined : 'the table has no columns'),
      },
    ],
    ...changes,
  }
  return testConnection({
    type,
    settings: {},
    context: { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 },
    transport: createTransport(egress),
    clock: systemClock,
    signal: new AbortController().signal,
  })
}

describe('testConnection', () => {
  it('runs every step and says how long each took', async () => {
    receiver.react = (request) => (request.path === '/table' ? answer(200, {}, 'traces') : ok)
    expect(await run()).toMatchObject({
      ok: true,
      steps: [
        { name: 'sign in', ok: true, status: 200 },
        { name: 'find the table', ok: true },
      ],
    })
  })

  it('ends at the first step that fails, with the reason and without secrets', async () => {
    receiver.react = () => answer(401, {}, 'token=verysecretvalue is wrong')
    const test = await run()
    expect(test).toMatchObject({ ok: false, steps: [{ name: 'sign in', status: 401, message: expect.stringContaining('is wrong') }] })
    expect(JSON.stringify(test)).not.toContain('verysecret')
    expect(receiver.requests).toHaveLength(1)
  })

  it('cuts a long reason between whole characters, because strict clients refuse halves', async () => {
    for (const lead of ['', 'x']) {
      const check = (): string => lead + '\u{1f600}'.repeat(400)
      const { steps } = await run(receiver.url, {
        probe: () => [{ name: 'look', request: { method: 'GET', url: receiver.url, headers: {} }, check }],
      })
      expect(steps[0]?.message?.length).toBeGreaterThan(498)
      expect(JSON.stringify(steps)).not.toMatch(/\\ud[89a-f]/)
    }
  })

  it("asks a step's own check", async () => {
    expect(await run()).toMatchObject({ ok: false, steps: [{ ok: true }, { ok: false, message: 'the table has no columns' }] })
  })

  it('says why the platform was not reached', async () => {
    receiver.react = () => ({ kind: 'hang' })
    const limits = { records: 1, bytes: 10_000, timeoutMs: 200 }
    expect(await run(receiver.url, { limits })).toMatchObject({ ok: false, steps: [{ status: 0, message: expect.stringContaining('in time') }] })
    expect(await run('http://169.254.169.254')).toMatchObject({
      ok: false,
      steps: [{ status: 0, message: expect.stringContaining('never allowed') }],
    })
  })

  it('looks up what a delivery would, and continues without it', async () => {
    const probe: Destination['probe'] = (_settings, { prepared }) => [
      { name: 'ask', request: { method: 'GET', url: `${receiver.url}/${String(prepared)}`, headers: {} } },
    ]
    await run(receiver.url, {
      probe,
      prepare: async (_settings, _context, send) => (await send({ method: 'GET', url: receiver.url, headers: {} })).status,
    })
    await run(receiver.url, { probe, prepare: async () => Promise.reject(new Error('down')) })
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/', '/200', '/undefined'])
  })

  it('does not take a web page for the platform, whatever its status', async () => {
    const probe: Destination['probe'] = () => [{ name: 'look', request: { method: 'GET', url: receiver.url, headers: {} } }]
    for (const page of ['<!DOCTYPE html>\n<html lang="en">', '\n <html><body>Sign in</body>', '\ufeff<!doctype html>']) {
      receiver.react = () => answer(200, { 'content-type': 'text/html; charset=utf-8' }, page)
      expect(await run(receiver.url, { probe })).toMatchObject({
        ok: false,
        steps: [{ status: 200, message: expect.stringContaining('a web page') }],
      })
    }
    receiver.react = () => answer(200, { 'content-type': 'text/html' }, 'ok')
    expect(await run(receiver.url, { probe })).toMatchObject({ ok: true })
  })

  it('waits for an answer that takes several requests', async () => {
    receiver.react = (request) => (request.path === '/later' ? answer(200, {}, 'traces') : answer(202))
    const later = { method: 'GET', url: `${receiver.url}/later`, headers: {} } as const
    const test = await run(receiver.url, { followUp: ({ status }) => (status === 202 ? { request: later, afterMs: 1 } : undefined) })
    expect(test).toMatchObject({ ok: true, steps: [{ status: 200 }, { status: 200 }] })
  })
})

it(verifies('G1', 'the credential is removed from looked-up values in errors of tests and samples'), async () => {
  const apiKey = 'credentialcanary-0123'
  receiver.react = () => answer(503, { 'x-note': apiKey }, `no columns for ${apiKey}`)
  const type: Destination<{ apiKey: string }> = {
    type: 'plain',
    name: 'Plain',
    settings: z.object({ apiKey: z.string() }),
    secrets: ['apiKey'],
    limits: { records: 1, bytes: 10_000 },
    prepare: async (_settings, _context, send) => {
      const { headers, body } = await send({ method: 'GET', url: receiver.url, headers: {} })
      return `${headers['x-note']} ${body.toString()}`
    },
    encode: (_batch, _settings, { prepared }) => {
      throw new Error(String(prepared))
    },
    probe: (_settings, { prepared }) => [
      { name: 'use it', request: { method: 'GET', url: receiver.url, headers: {} }, check: () => String(prepared) },
    ],
  }
  const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
  const shared = { transport: createTransport(egress), clock: systemClock, signal: new AbortController().signal }
  const tested = await testConnection({ type, settings: { apiKey }, context, ...shared })
  const destination = sampleDestination('d', { config: { apiKey } })
  const sampled = await sendSample({ type, destination, sample: minimalGeneration(), context, ...shared })
  for (const { steps } of [tested, sampled]) expect(steps.at(-1)?.message).toBe('[redacted] no columns for [redacted]')
})

describe('a request that a platform accepts and does not store', () => {
  const context = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
  const sample = async (classify: Destination['classify']): Promise<ConnectionTest> =>
    sendSample({
      type: {
        type: 'plain',
        name: 'Plain',
        settings: z.looseObject({}),
        secrets: [],
        limits: { records: 1, bytes: 10_000 },
        encode: () => [{ method: 'POST', url: receiver.url, headers: {}, body: '{}' }],
        probe: () => [],
        ...(classify === undefined ? {} : { classify }),
      },
      destination: sampleDestination('d', { config: {} }),
      sample: minimalGeneration(),
      context,
      transport: createTransport(egress),
      clock: systemClock,
      signal: new AbortController().signal,
    })

  it('is reported as refused if the sample was refused inside the accepted request', async () => {
    expect(await sample(() => ({ kind: 'partial', rejectedCount: 1, message: 'spans are too old' }))).toMatchObject({
      ok: false,
      steps: [{ ok: false, status: 200, message: 'spans are too old' }],
    })
  })

  it('passes the test, with a remark', async () => {
    const remark = { kind: 'delivered', message: 'over quota' } as const
    expect(await sample(() => remark)).toMatchObject({ ok: true, steps: [{ ok: true, message: 'over quota' }] })
    expect(
      await run(receiver.url, {
        classify: () => remark,
        probe: () => [{ name: 'send', request: { method: 'GET', url: receiver.url, headers: {} } }],
      }),
    ).toMatchObject({
      ok: true,
      steps: [{ ok: true, message: 'over quota' }],
    })
  })
})
