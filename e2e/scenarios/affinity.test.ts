import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Which endpoint a conversation returns to, over real sockets, where nothing but its cache speaks for the dearer one. */
let cheap: FakeUpstream
let dear: FakeUpstream
let gateway: TestGateway

const USAGE = { prompt_tokens: 2_000, completion_tokens: 2, total_tokens: 2_002, prompt_tokens_details: { cached_tokens: 1_500 } }
const cached = stream([chatEvents.role(), chatEvents.text('ok'), chatEvents.finish(), chatEvents.usage(USAGE), chatEvents.done()])

beforeEach(async () => {
  cheap = await startFakeUpstream(cached)
  dear = await startFakeUpstream(cached)
  gateway = await startGateway(chatConfig([cheap.url, dear.url]))
})
afterEach(async () => {
  await gateway.close()
  await cheap.close()
  await dear.close()
})

const turn = (role: string, content: string): object => ({ type: 'message', role, content })
const opening = [turn('developer', 'You are the caretaker.'), turn('user', 'Where is the ladder?')]
const later = [...opening, turn('assistant', 'In the shed.'), turn('user', 'And the key?')]
const ask = async (input: readonly object[], more: object = {}): Promise<number> => {
  const response = await gateway.respond({ model: 'acme/small', input, ...more })
  await response.text()
  return response.status
}
const served = (): readonly number[] => [cheap.requests.length, dear.requests.length]

describe('a conversation without a session id', () => {
  it(verifies('P24', 'P25', 'stays where its prompt was read from a cache, and plans say so'), async () => {
    await ask(opening, { provider: { ignore: ['acme'] } })
    expect(served()).toEqual([0, 1])
    for (let n = 0; n < 3; n++) expect(await ask(later)).toBe(200)
    expect(served()).toEqual([0, 4])
    const plan = (await (await gateway.api('POST', '/api/v1/route/explain', { model: 'acme/small', input: later }, gateway.key)).json()) as {
      attempts: readonly { tag: string; notes: readonly string[] }[]
    }
    expect(plan.attempts.map(({ tag, notes }) => [tag, notes])).toEqual([
      ['backup1', ['the session is pinned here']],
      ['acme', []],
    ])
  })
})
