import { afterAll, beforeAll, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** What is stored of a call if its workspace asks for it: text, and a description of media. */
let upstream: FakeUpstream
let gateway: TestGateway

/** Three kilobytes that can only be media. */
const BYTES = Buffer.from(Array.from({ length: 3_000 }, (_, i) => (i * i * 31 + i * 7) % 256)).toString('base64')
const WORKSPACE = '/api/v1/workspaces/00000000-0000-4000-8000-000000000001'

const MODEL = {
  slug: 'acme/small',
  endpoints: [{ provider: 'acme', upstream_model: 'small-1', supports: ['image', 'audio'] }],
}

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('A picture: ', `![it](data:image/png;base64,${BYTES})`, ' of a lake.')))
  gateway = await startGateway(chatConfig([upstream.url], { models: [MODEL] }))
  await gateway.api('PATCH', WORKSPACE, { is_observability_io_logging_enabled: true })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

it('stored content contains no bytes of images and audio, at any depth', async () => {
  const content = [
    { type: 'input_text', text: 'What is this?' },
    { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${BYTES}` },
    { type: 'input_audio', input_audio: { data: BYTES, format: 'mp3' } },
  ]
  const drawn = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: BYTES }
  const response = await gateway.respond({ model: 'acme/small', input: [{ role: 'user', content }, drawn, { role: 'user', content: 'And now?' }] })
  const answer = await response.text()
  expect([response.status, answer.slice(0, 300)]).toEqual([200, expect.stringContaining('completed')])
  const kept = await (await gateway.api('GET', `/api/v1/generation/content?id=${response.headers.get('x-generation-id')}`)).text()
  expect(kept).toContain('What is this?')
  expect(kept).toContain('of a lake.')
  expect(kept.match(/image\/png|audio\/mp3/g)?.length).toBeGreaterThanOrEqual(4)
  expect(kept).not.toContain(BYTES.slice(0, 200))
})

it('stored content contains the text of a refusal', async () => {
  upstream.script(
    stream([{ ...chatEvents.role(), choices: [{ index: 0, delta: { refusal: 'I will not.' }, finish_reason: null }] }, chatEvents.finish('stop')]),
  )
  const response = await gateway.respond({ model: 'acme/small', input: 'Please' })
  await response.text()
  const kept = await gateway.api('GET', `/api/v1/generation/content?id=${response.headers.get('x-generation-id')}`)
  const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] }
  expect(await kept.json()).toMatchObject({ data: { output: { completion: null, items: [refusal] } } })
})
