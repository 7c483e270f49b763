import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { SPEAKERS, type Turn } from '../../src/testing/scripted-model.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Items of earlier answers that the caller sends back only by id. */
let upstream: FakeUpstream
let gateway: TestGateway
const says = (turn: Turn, then?: 'reset' | 'hang'): void => upstream.script(SPEAKERS['openai-chat'].speak(turn, then === undefined ? {} : { then }))

beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false, cooldown: false, retries: false } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => says({ text: ['42'] }))

const question = { role: 'user', content: 'What is the answer?' }
const reference = (id: string): object => ({ type: 'item_reference', id })

async function answered(body: object = {}): Promise<{ readonly id: string; readonly call_id?: string }[]> {
  const response = await gateway.respond({ model: 'acme/small', input: [question], ...body })
  return ((await response.json()) as { output: { id: string }[] }).output
}
const askAgain = (items: readonly object[], key?: string) =>
  gateway.respond({ model: 'acme/small', input: [question, ...items, { role: 'user', content: 'Why?' }] }, key === undefined ? {} : { key })
const upstreamInput = (): string => JSON.stringify(upstream.requests.at(-1)!.body['messages'])

describe('a reference to an item of an earlier answer', () => {
  it('is replaced by the item: text, calls with their results, streamed or not', async () => {
    const [message] = await answered()
    expect((await askAgain([reference(message!.id)])).status).toBe(200)
    expect(upstreamInput()).toContain('"42"')

    says({ calls: [{ id: 'call_1', name: 'weather', arguments: ['{"city":"Bern"}'] }] })
    const streamed = checkWire(await (await gateway.respond({ model: 'acme/small', input: [question], stream: true })).text())
    const [call] = streamed.output
    says({ text: ['Sunny'] })
    const result = { type: 'function_call_output', call_id: call!['call_id'], output: 'sunny' }
    expect((await askAgain([reference(call!.id), result])).status).toBe(200)
    expect(upstreamInput()).toContain('"{\\"city\\":\\"Bern\\"}"')
  })

  it('is replaced by the part that the caller had received of a broken answer', async () => {
    says({ text: ['forty-'], fails: 'The engine broke down' })
    const { output } = checkWire(await (await gateway.respond({ model: 'acme/small', input: [question], stream: true })).text())
    says({ text: ['two'] })
    expect((await askAgain([reference(output[0]!.id)])).status).toBe(200)
    expect(upstreamInput()).toContain('"forty-"')
  })

  it('is refused when the caller had asked for nothing to be stored', async () => {
    const [message] = await answered({ store: false })
    const response = await askAgain([reference(message!.id)])
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('input[1] refers to the item'), metadata: { error_type: 'invalid_request', source: 'gateway' } },
    })
  })

  it(verifies('F7', 'never reaches into another workspace'), async () => {
    const [message] = await answered()
    const { workspaces } = gateway.app.boot.store
    const workspace = { ...(await workspaces.default()), id: '11111111-1111-4111-8111-111111111111', name: 'Away', slug: 'away', isDefault: false }
    await workspaces.insert(workspace)
    const { secret } = await gateway.app.accounts.create({ name: 'Stranger', kind: 'inference', workspaceId: workspace.id })
    const seen = upstream.requests.length
    expect((await askAgain([reference(message!.id)], secret.reveal())).status).toBe(400)
    expect(upstream.requests).toHaveLength(seen)
    expect((await askAgain([reference(message!.id)])).status).toBe(200)
  })
})
