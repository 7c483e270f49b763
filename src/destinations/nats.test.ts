import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DeliveryOutcome, DestinationContext, OutgoingResponse } from '../core/destination.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { nats } from './nats.ts'

testDestination(nats, {
  config: { subject: 'ai.generations', token: 'nats-secret-token-1' },
  required: [],
  defaults: { subject: 'gateway.generations', jetstream: true },
  invalid: [
    { subject: '$JS.API.STREAM.DELETE.X' },
    { subject: 'a.*' },
    { subject: 'a.>' },
    { subject: 'a b' },
    { subject: 'a\r\nPUB x' },
    { subject: '' },
    // Headers of the server itself: this one would empty the stream for everybody.
    { headers: { 'Nats-Rollup': 'all' } },
    { headers: { 'nats-msg-id': 'same' } },
  ],
  context: { baseUrl: 'nats://nats.example.com:4222' },
  classification: [
    [200, '{"failed":[]}', 'delivered'],
    [200, '{"failed":[{"index":0,"code":404,"message":"no stream"}]}', 'unauthorized'],
    [200, '{"failed":[{"index":0,"code":503,"message":"no leader"}]}', 'partial'],
  ],
})

const NONE = { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } }
const records = [fullGeneration(), minimalGeneration()].map(({ generation, content }) => toDeliveryRecord(generation, content, NONE))
const never = new AbortController().signal

async function send(baseUrl: string | undefined, config: object, batch = records): Promise<{ outcome: DeliveryOutcome; response: OutgoingResponse }> {
  const context: DestinationContext = {
    destinationId: 'd',
    serviceName: 's',
    serviceVersion: '1',
    now: 0,
    attempt: 0,
    ...(baseUrl === undefined ? {} : { baseUrl }),
  }
  const [request] = await nats.encode(batch, nats.settings.parse(config), context)
  const response = await nats.transport!({ ...request!, timeoutMs: 1_000 }, context, never)
  return { outcome: nats.classify!(response, request!), response }
}

it('goes nowhere unless the operator says where', async () => {
  expect((await send(undefined, {})).outcome).toMatchObject({ kind: 'unauthorized', message: expect.stringContaining('base_urls') })
})

it('names a message differently for each destination, as a stream drops what it has by that name under any of its subjects', async () => {
  const idsFor = async (destinationId: string): Promise<readonly string[]> => {
    const context = { destinationId, serviceName: 's', serviceVersion: '1', now: 0, attempt: 0 }
    const [request] = await nats.encode(records, nats.settings.parse({}), context)
    return (JSON.parse(String(request!.body)) as { readonly messages: readonly { readonly id: string }[] }).messages.map(({ id }) => id)
  }
  const [all, errors, again] = [await idsFor('all'), await idsFor('errors'), await idsFor('all')]
  expect(again).toEqual(all)
  expect(new Set([...all, ...errors]).size).toBe(2 * records.length)
})

describe('a server that', () => {
  const servers: Server[] = []
  afterEach(() => servers.splice(0).forEach((server) => server.close()))

  async function start(
    talk: (line: string, socket: Socket) => void,
    greeting = 'INFO {"server_id":"A","client_id":1,"max_payload":1048576}\r\n',
  ): Promise<string> {
    const server = createServer((socket) => {
      socket.write(greeting)
      socket.on('error', () => {})
      socket.on('data', (data) =>
        data
          .toString()
          .split('\r\n')
          .forEach((line) => talk(line, socket)),
      )
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const polite = (line: string, socket: Socket): void => void (line === 'PING' && socket.write('PONG\r\n'))

  it('refuses the login pauses the destination', async () => {
    const url = await start((line, socket) => line.startsWith('CONNECT') && socket.write("-ERR 'Authorization Violation'\r\n"))
    expect((await send(url, { token: 'wrong' })).outcome.kind).toBe('unauthorized')
  })

  it('gets user, password and token unchanged, with blanks and colons', async () => {
    const told: unknown[] = []
    const url = await start((line, socket) => {
      polite(line, socket)
      if (line.startsWith('CONNECT ')) told.push(JSON.parse(line.slice('CONNECT '.length)))
    })
    await send(url, { token: 'two words of it', jetstream: false })
    await send(url, { username: 'team:reader', password: 'pa ss:wörd', jetstream: false })
    expect(told).toMatchObject([{ auth_token: 'two words of it' }, { user: 'team:reader', pass: 'pa ss:wörd' }])
  })

  it('forbids the subject pauses the destination', async () => {
    const url = await start((line, socket) => {
      polite(line, socket)
      if (line.startsWith('HPUB')) socket.write('-ERR \'Permissions Violation for Publish to "gateway.generations"\'\r\n')
    })
    expect((await send(url, {})).response.status).toBe(403)
  })

  it('takes small messages only gets smaller batches', async () => {
    const url = await start(polite, 'INFO {"max_payload":100}\r\n')
    expect((await send(url, {})).outcome.kind).toBe('split')
  })

  it('is silent, cuts the connection or talks nonsense leaves the batch for later', async () => {
    await expect(send(await start(() => {}, ''), {})).rejects.toThrow('in time')
    await expect(send(await start((_line, socket) => socket.destroy()), {})).rejects.toThrow()
    await expect(send(await start((line, socket) => void (line === 'PING' && socket.write('HMSG a 1 x y\r\n'))), {})).rejects.toThrow('malformed')
    await expect(send('nats://127.0.0.1:1', {})).rejects.toThrow()
  })

  it('splits its answers anywhere is understood', async () => {
    const url = await start((line, socket) => {
      polite(line, socket)
      const reply = /^HPUB \S+ (\S+) /.exec(line)?.[1]
      if (reply === undefined) return
      const body = '{"stream":"S","seq":1}'
      for (const byte of `MSG ${reply} 1 ${body.length}\r\n${body}\r\nPING\r\n`) socket.write(byte)
    })
    expect((await send(url, {})).outcome).toEqual({ kind: 'delivered' })
  })

  it('answers for some messages with an error has only those sent again or given up', async () => {
    const url = await start((line, socket) => {
      polite(line, socket)
      const reply = /^HPUB \S+ (\S+) /.exec(line)?.[1]
      if (reply === undefined) return
      const body = reply.endsWith('.0')
        ? '{"error":{"code":400,"err_code":10025,"description":"bad request"}}'
        : '{"error":{"code":503,"description":"no leader"}}'
      socket.write(`MSG ${reply} 1 ${body.length}\r\n${body}\r\n`)
    })
    expect((await send(url, {})).outcome).toMatchObject({ kind: 'partial', rejected: [{ index: 0 }], retry: [1] })
  })

  it('has a stream of small messages only gets smaller batches, and shorter messages in the end', async () => {
    const url = await start((line, socket) => {
      polite(line, socket)
      const reply = /^HPUB \S+ (\S+) /.exec(line)?.[1]
      if (reply === undefined) return
      const body = reply.endsWith('.0')
        ? '{"stream":"S","seq":1}'
        : '{"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"}}'
      socket.write(`MSG ${reply} 1 ${body.length}\r\n${body}\r\n`)
    })
    expect((await send(url, {})).outcome).toEqual({ kind: 'split', message: 'message size exceeds maximum allowed' })
  })
})

// ---- a real server ----

const address = process.env['SIGNALBOX_TEST_NATS_URL'] ?? 'nats://127.0.0.1:4222'
const isThere = await new Promise<boolean>((resolve) => {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port), timeout: 1_000 })
  const done = (result: boolean): void => {
    socket.destroy()
    resolve(result)
  }
  socket.once('data', (data) => done(data.toString().includes('"jetstream":true')))
  socket.once('error', () => done(false))
  socket.once('timeout', () => done(false))
})

/** Sends a request to the server's own API and returns its answer. */
async function ask(subject: string, body: object): Promise<{ readonly [name: string]: unknown }> {
  const { hostname, port } = new URL(address)
  const payload = JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    let text = ''
    socket.on('error', reject)
    socket.on('data', (data) => {
      text += data.toString()
      const match = /MSG _INBOX\.test \d+ (\d+)\r\n([\s\S]*)\r\n$/.exec(text)
      if (match?.[2]?.length !== Number(match?.[1] ?? -1)) return
      socket.destroy()
      resolve(JSON.parse(match[2]) as { [name: string]: unknown })
    })
    socket.write(`CONNECT {"verbose":false}\r\nSUB _INBOX.test 1\r\nPUB ${subject} _INBOX.test ${Buffer.byteLength(payload)}\r\n${payload}\r\n`)
  })
}

describe.skipIf(!isThere)(`a real server with JetStream (${isThere ? address : `MISSING: ${address}, set SIGNALBOX_TEST_NATS_URL`})`, () => {
  const stream = `signalbox-test-${process.pid}`
  const subject = `${stream}.generations`
  beforeAll(async () => void (await ask(`$JS.API.STREAM.CREATE.${stream}`, { name: stream, subjects: [`${stream}.>`], storage: 'memory' })))
  afterAll(async () => void (await ask(`$JS.API.STREAM.DELETE.${stream}`, {})))
  const stored = async (): Promise<number> => ((await ask(`$JS.API.STREAM.INFO.${stream}`, {}))['state'] as { messages: number }).messages

  it('stores each message once, however often it is sent', async () => {
    expect((await send(address, { subject })).outcome).toEqual({ kind: 'delivered' })
    expect((await send(address, { subject })).outcome).toEqual({ kind: 'delivered' })
    expect(await stored()).toBe(2)
    const { message } = (await ask(`$JS.API.STREAM.MSG.GET.${stream}`, { seq: 1 })) as { message: { data: string; hdrs: string } }
    expect(JSON.parse(Buffer.from(message.data, 'base64').toString())).toMatchObject({
      id: fullGeneration().generation.id,
      trace: { id: 'order-123' },
    })
    expect(Buffer.from(message.hdrs, 'base64').toString()).toContain(`Nats-Msg-Id: ${fullGeneration().generation.id}`)
  })

  it('without a stream for the subject is a matter of configuration, unless nobody need listen', async () => {
    expect((await send(address, { subject: 'signalbox.nobody' })).outcome.kind).toBe('unauthorized')
    expect((await send(address, { subject: 'signalbox.nobody', jetstream: false })).outcome).toEqual({ kind: 'delivered' })
  })

  it('passes the connection test', async () => {
    const context: DestinationContext = { destinationId: 'd', serviceName: 's', serviceVersion: '1', now: 0, attempt: 0, baseUrl: address }
    const [step] = nats.probe(nats.settings.parse({}), context)
    expect((await nats.transport!(step!.request, context, never)).status).toBe(200)
  })
})
