import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** A key is revoked while it has an answer of many turns in progress, or a body on its way: what is left would spend what the key may no longer spend. */
let upstream: FakeUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway({ ...chatConfig([upstream.url]), plugins: { moderation: { model: 'acme/small' } } })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

interface Made {
  readonly key: string
  readonly data: { readonly hash: string }
}

const makeKey = async (): Promise<Made> => (await (await gateway.api('POST', '/api/v1/keys', { name: 'on its way' })).json()) as Made

const ENDINGS: readonly (readonly [what: string, end: (hash: string) => Promise<Response>, message: string])[] = [
  ['revoked', (hash) => gateway.api('DELETE', `/api/v1/keys/${hash}`), 'The API key has been revoked'],
  ['disabled', (hash) => gateway.api('PATCH', `/api/v1/keys/${hash}`, { disabled: true }), 'The API key is disabled'],
]

/** The turn during which the key is revoked, and the gateway's answer. */
async function askWith(
  made: Made,
  body: object,
  turns: readonly Reply[],
): Promise<{ readonly status: number; readonly text: string; readonly asked: number }> {
  upstream.script(...turns, says('still here'))
  const before = upstream.requests.length
  const response = await gateway.respond({ model: 'acme/small', input: 'hi', ...body }, { key: made.key })
  return { status: response.status, text: await response.text(), asked: upstream.requests.length - before }
}

describe.each(ENDINGS)('a key that is %s while a model makes its first turn', (_what, end, message) => {
  const during =
    (hash: string, reply: Reply): Reply =>
    async (request, response) => {
      expect((await end(hash)).status).toBe(200)
      await reply(request, response)
    }

  it.each([true, false])(verifies('F6', 'has no further turn (stream: %s)'), async (stream) => {
    const made = await makeKey()
    const outcome = await askWith(made, { stream, tools: [{ type: 'gateway:datetime' }] }, [during(made.data.hash, calls(['datetime', {}]))])
    expect(outcome.asked).toBe(1)
    expect(outcome.text).toContain(message)
    if (stream) expect(outcome.text).toContain('response.failed')
    else expect(outcome.status).toBe(401)
  })

  it(verifies('F6', 'is not served by another model'), async () => {
    const made = await makeKey()
    const tools = [{ type: 'gateway:subagent' }]
    const outcome = await askWith(made, { tools }, [during(made.data.hash, calls(['subagent', { task_name: 'one', task_description: 'one' }]))])
    expect(outcome.asked).toBe(1)
    expect(outcome.status).toBe(401)
  })

  it(verifies('F6', 'is not served after a plugin that asked the model'), async () => {
    const made = await makeKey()
    const outcome = await askWith(made, { plugins: [{ id: 'moderation' }] }, [during(made.data.hash, says('safe'))])
    expect(outcome.asked).toBe(1)
    expect(outcome.status).toBe(401)
    expect(outcome.text).toContain(message)
  })

  it('gets the answer if that turn was the last', async () => {
    const made = await makeKey()
    const outcome = await askWith(made, { tools: [{ type: 'gateway:datetime' }] }, [during(made.data.hash, says('done'))])
    expect([outcome.status, outcome.asked]).toEqual([200, 1])
  })
})

describe('a key that ends while the body of a request is on its way', () => {
  /** The status and the rest of an answer to a request whose body is sent only after its key has ended. */
  async function sentLate(path: string, key: string, body: object, end: () => Promise<unknown>): Promise<string> {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const sent = JSON.stringify(body)
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\ncontent-length: ${sent.length}\r\nexpect: 100-continue\r\n\r\n`,
    )
    // The key was accepted, and the body is awaited.
    await once(socket, 'data')
    await end()
    socket.write(sent)
    return text(socket)
  }

  it(verifies('F6', 'asks no model'), async () => {
    const { key, data } = await makeKey()
    const before = upstream.requests.length
    const answer = await sentLate('/api/v1/responses', key, { model: 'acme/small', input: 'hi' }, () =>
      gateway.api('DELETE', `/api/v1/keys/${data.hash}`),
    )
    expect(answer).toContain('The API key has been revoked')
    expect(upstream.requests).toHaveLength(before)
  })

  it(verifies('F6', 'makes no other key'), async () => {
    const { accounts } = gateway.app
    const { key, secret } = await accounts.create({ name: 'stolen', kind: 'management' })
    expect(await sentLate('/api/v1/keys', secret.reveal(), { name: 'a way back in' }, () => accounts.revoke(key.hash))).toContain('HTTP/1.1 401')
    expect(await (await gateway.api('GET', '/api/v1/keys')).text()).not.toContain('a way back in')
  })
})
