import { describe, expect, it } from 'vitest'
import type { Destination } from '../core/destination.ts'
import type { FinishedGeneration } from '../core/generation.ts'
import type { DestinationRecord } from '../core/outbox.ts'
import { eventBytes } from '../delivery/select.ts'
import { createTransport } from '../delivery/transport.ts'
import { createDeliveryWorker, type DeliveryEvent } from '../delivery/worker.ts'
import { createEgress } from '../lib/egress.ts'
import { answer, ok, startFakeDestination, type FakeDestination, type ReceivedRequest } from '../testing/fake-destination.ts'
import { exampleConfigs } from '../testing/destination-configs.ts'
import { createMemoryOutbox, type MemoryOutbox } from '../testing/memory-outbox.ts'
import { CANARY, failedGeneration, fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { DESTINATIONS } from './index.ts'
import { verifies } from '../../e2e/requirements.ts'

/**
 * Runs every type that speaks HTTP through the delivery engine against a receiver that misbehaves: the guarantees of deliveries must hold whatever the
 * format of the requests.
 */

const OWN_TRANSPORT = ['file', 'nats']

const IDS = Array.from({ length: 10 }, (_, i) => `gen-test-${i}`)
const idsIn = (request: ReceivedRequest): string[] => IDS.filter((id) => request.body.includes(id))
/** Lookups before a delivery contain no generation. */
const isDelivery = (request: ReceivedRequest): boolean => idsIn(request).length > 0

const secretOf = (path: string): string => `canary-secret-of-${path}-0123456789`
/** A config in which every secret is recognisable. A credential that is a document keeps its format; its own test checks its content. */
function withCanaries(type: Destination, config: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  const isDocument = (value: unknown): boolean => typeof value === 'string' && value.startsWith('{')
  const plain = type.secrets.filter((path) => !path.endsWith('.*') && !isDocument(config[path]))
  return { ...config, ...Object.fromEntries(plain.map((path) => [path, secretOf(path)])), headers: { 'x-owner': secretOf('headers') } }
}

interface Run {
  readonly receiver: FakeDestination
  readonly outbox: MemoryOutbox
  readonly deliveries: () => readonly ReceivedRequest[]
  readonly configure: (change: object) => void
  readonly until: (what: () => boolean | Promise<boolean>) => Promise<void>
  readonly drain: () => Promise<void>
}

interface Options {
  readonly record?: (url: string) => Partial<DestinationRecord>
  /** The generations to deliver; default: ten small ones. */
  readonly finished?: readonly FinishedGeneration[]
  readonly onEvent?: (event: DeliveryEvent) => void
  /** Limit for a request; default: the type's own. Only short if the receiver hangs, because a busy machine is not a failure. */
  readonly timeoutMs?: number
}

const smallOnes = (): readonly FinishedGeneration[] =>
  IDS.map((id) => ({ generation: minimalGeneration().generation, content: { instructions: `text of ${id}`, input: [], output: [] } }))

/** Delivers ten generations with one type. `react` sees only delivery requests and their number. */
async function deliver(type: Destination, react: FakeDestination['react'], check: (run: Run) => Promise<void>, options: Options = {}): Promise<void> {
  let number = 0
  const receiver = await startFakeDestination((request) => (isDelivery(request) ? react(request, number++) : ok))
  const egress = createEgress({ allowPrivate: true })
  const outbox = createMemoryOutbox()
  const base: DestinationRecord = {
    id: '3d1f7a52-6f0e-4c7e-9b8a-5f1c2d3e4f50',
    workspaceId: 'w',
    type: type.type,
    name: 'n',
    enabled: true,
    paused: false,
    config: exampleConfigs[type.type]!(receiver.url),
    apiKeyHashes: null,
    filterRules: null,
    samplingRate: 1,
    privacyMode: false,
    broadcast: { cost: false, identity: false, requestContext: false },
    revision: 1,
    createdAt: 0,
    updatedAt: 0,
    ...options.record?.(receiver.url),
  }
  let record = base
  const transport = createTransport(egress)
  const worker = createDeliveryWorker({
    outbox,
    types: new Map([[type.type, { ...type, limits: { ...type.limits, lingerMs: 5 } }]]),
    destination: () => record,
    transport: (request, timeoutMs, signal) => transport(request, options.timeoutMs ?? timeoutMs, signal),
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    random: () => 0.5,
    owner: 'test',
    service: { name: 'signalbox', version: '1' },
    baseUrls: { [type.type]: receiver.url },
    backoff: { baseMs: 10, maxMs: 40 },
    breaker: { threshold: 20, openMs: 60, maxOpenMs: 200, unauthorizedMs: 60_000 },
    tuning: { pollMs: 20 },
    ...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
  })
  const until: Run['until'] = async (what) => {
    const end = Date.now() + 15_000
    while (!(await what())) {
      if (Date.now() > end) throw new Error(`not reached; ${JSON.stringify(await outbox.status(base.id))}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  try {
    await outbox.record(
      (options.finished ?? smallOnes()).map(({ generation: sample, content }, i) => {
        const generation = { ...sample, id: IDS[i]!, startedAt: Date.now() - 10, endedAt: Date.now(), durationMs: 10 }
        const text = JSON.stringify(content)
        const bytes = eventBytes(JSON.stringify(generation), text)
        return { generation, content: text, deliveries: [{ destinationId: base.id, withContent: true }], bytes }
      }),
    )
    worker.start()
    await check({
      receiver,
      outbox,
      deliveries: () => receiver.requests.filter(isDelivery),
      configure: (change) => {
        record = { ...base, config: { ...base.config, ...change }, revision: 2 }
        worker.wake()
      },
      until,
      drain: () => until(async () => (await outbox.status(base.id)).queued === 0),
    })
  } finally {
    await worker.stop(50)
    await Promise.all([egress.close(), receiver.close()])
  }
}

const arrived = ({ receiver }: Run): string[] => [...new Set(receiver.accepted.flatMap(idsIn))].sort()
const status = ({ outbox }: Run): ReturnType<MemoryOutbox['status']> => outbox.status('3d1f7a52-6f0e-4c7e-9b8a-5f1c2d3e4f50')

it('covers every type that speaks HTTP', () => {
  expect([...Object.keys(exampleConfigs), ...OWN_TRANSPORT].sort()).toEqual([...DESTINATIONS.keys()].sort())
})

describe.concurrent.each(Object.keys(exampleConfigs).map((name) => [name, DESTINATIONS.get(name)!] as const))('%s', (_name, type) => {
  it('delivers each generation once', async () => {
    await deliver(
      type,
      () => ok,
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
        const paths = new Set(run.deliveries().map(({ path }) => path.split('?')[0]))
        for (const id of IDS) {
          const carrying = run.deliveries().filter((request) => idsIn(request).includes(id))
          // Once per address, because a type may have two, such as one for traces and one for spans.
          expect(new Set(carrying.map(({ path }) => path)).size).toBe(carrying.length)
        }
        expect(paths.size).toBeLessThanOrEqual(IDS.length)
        expect(await status(run)).toMatchObject({ delivered: 10, dead: 0, rejected: 0 })
      },
    )
  })

  it('waits as long as a 429 demands', async () => {
    await deliver(
      type,
      (_request, number) => (number === 0 ? answer(429, { 'retry-after': '1' }) : ok),
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
        const [first, ...later] = run.deliveries()
        const [id = ''] = idsIn(first!)
        const again = later.find((request) => idsIn(request).includes(id))
        expect(again!.at - first!.at).toBeGreaterThanOrEqual(990)
      },
    )
  })

  it('tries again after a 503', async () => {
    await deliver(
      type,
      (_request, number) => (number < 2 ? answer(503) : ok),
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
        expect(await status(run)).toMatchObject({ delivered: 10, dead: 0 })
      },
    )
  })

  it('delivers nine of ten when one is refused', async () => {
    await deliver(
      type,
      (request) => (idsIn(request).includes('gen-test-6') ? answer(400, {}, '{"error":"bad event"}') : ok),
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS.filter((id) => id !== 'gen-test-6'))
        const { letters } = await run.outbox.deadLetters('3d1f7a52-6f0e-4c7e-9b8a-5f1c2d3e4f50', { offset: 0, limit: 10 })
        expect(letters).toMatchObject([{ generationId: 'gen-test-6', reason: 'rejected', status: 400 }])
      },
    )
  })

  it('keeps everything while its credentials are wrong, and drains once they are right', async () => {
    await deliver(
      type,
      (request) => (request.headers['x-fixed'] === 'yes' ? ok : answer(401)),
      async (run) => {
        await run.until(async () => (await status(run)).health?.breaker === 'unauthorized')
        expect(await status(run)).toMatchObject({ queued: 10, dead: 0, health: { lastStatus: 401 } })
        run.configure({ headers: { 'x-fixed': 'yes' } })
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
      },
    )
  })

  it(verifies('I3', 'gives up on a receiver that hangs, and comes back'), async () => {
    await deliver(
      type,
      (_request, number) => (number === 0 ? { kind: 'hang' } : ok),
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
        expect(await status(run)).toMatchObject({ delivered: 10, dead: 0 })
      },
      { timeoutMs: 400 },
    )
  })

  it('sends the same bytes again when the connection breaks after they were read', async () => {
    await deliver(
      type,
      (_request, number) => (number === 0 ? { kind: 'reset' } : ok),
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
        const [first, ...later] = run.deliveries()
        expect(later.filter(({ body }) => body.equals(first!.body))).toHaveLength(1)
      },
    )
  })

  it('halves what is too large', async () => {
    await deliver(
      type,
      (request) => (idsIn(request).length > 3 ? answer(413) : ok),
      async (run) => {
        await run.drain()
        expect(arrived(run)).toEqual(IDS)
        expect(await status(run)).toMatchObject({ delivered: 10, dead: 0 })
      },
    )
  })

  it('sends no text of a call in privacy mode', async () => {
    await deliver(
      type,
      () => ok,
      async (run) => {
        await run.drain()
        expect(await status(run)).toMatchObject({ delivered: 2, dead: 0 })
        for (const { path, headers, body } of run.receiver.requests)
          expect(`${path} ${JSON.stringify(headers)} ${body.toString()}`).not.toContain(CANARY)
      },
      {
        record: () => ({ privacyMode: true, broadcast: { cost: true, identity: true, requestContext: true } }),
        finished: [fullGeneration(), failedGeneration()],
      },
    )
  })

  it('repeats no secret, even when the platform does', async () => {
    const events: unknown[] = []
    const echo = (request: ReceivedRequest): string =>
      `you said ${JSON.stringify(request.headers)} ${request.path} ${request.body.toString().slice(0, 200)}`
    await deliver(
      type,
      (request, number) => answer(number === 0 ? 503 : number < 4 ? 400 : 401, { 'x-error': String(request.headers['x-owner']) }, echo(request)),
      async (run) => {
        await run.until(async () => (await status(run)).health?.breaker === 'unauthorized')
        const { letters } = await run.outbox.deadLetters('3d1f7a52-6f0e-4c7e-9b8a-5f1c2d3e4f50', { offset: 0, limit: 10 })
        expect(JSON.stringify(run.receiver.requests.map(({ headers }) => headers))).toContain(secretOf('headers'))
        expect((await status(run)).health?.lastError).toContain('you said')
        expect(JSON.stringify([await status(run), letters, events])).not.toContain('canary-secret')
      },
      {
        record: (url) => ({ config: withCanaries(type, exampleConfigs[type.type]!(url)) }),
        onEvent: (event) => events.push(event),
      },
    )
  })
})
