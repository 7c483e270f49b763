import { afterAll, beforeAll, expect, it } from 'vitest'
import { startFakeUpstream, status, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** What a caller can make an endpoint look like to all other callers. */
let upstream: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

it('a stored prompt or file that does not exist in an account does not count as a failure of the endpoint', async () => {
  upstream.script(status(404, { error: { message: "Prompt with id 'pmpt_1' not found.", type: 'invalid_request_error' } }))
  for (let n = 0; n < 4; n++) {
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', prompt: { id: 'pmpt_1' } })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('pmpt_1')
  }
  const explained = await gateway.api('POST', '/api/v1/route/explain', { model: 'acme/small', input: 'hi' }, gateway.key)
  expect(await explained.json()).toMatchObject({ attempts: [{ state: 'healthy' }] })
})
