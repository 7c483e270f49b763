import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Two kinds of clients: one displays only summaries of reasoning, the other only its text. The operator chooses whether text is sent as both. */
let upstream: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  const { role, reasoning, text, finish, usage, done } = chatEvents
  upstream = await startFakeUpstream(stream([role(), reasoning('Let me '), reasoning('see'), text('Yes'), finish(), usage(), done()]))
  gateway = await startGateway(chatConfig([upstream.url], { responses: { mirror_reasoning: true } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const asked = { model: 'acme/small', input: 'hi', reasoning: { effort: 'low' } }
const reasoningOf = (output: readonly { readonly type: string }[]) => output.find(({ type }) => type === 'reasoning')
const content = [{ type: 'reasoning_text', text: 'Let me see' }]

it('raw reasoning is sent as a summary, too, if so configured, in the stream and in the JSON answer', async () => {
  const mirrored = { summary: [{ type: 'summary_text', text: 'Let me see' }], content }
  const { events, output } = checkWire(await (await gateway.respond({ ...asked, stream: true })).text())
  expect(reasoningOf(output)).toMatchObject(mirrored)
  for (const kind of ['reasoning_text', 'reasoning_summary_text'])
    expect(events.filter(({ type }) => type === `response.${kind}.delta`).map(({ delta }) => delta)).toEqual(['Let me ', 'see'])
  const answer = (await (await gateway.respond(asked)).json()) as { readonly output: readonly { readonly type: string }[] }
  expect(reasoningOf(answer.output)).toMatchObject(mirrored)
})

it('chat completions contain reasoning under both names in use', async () => {
  const { model, reasoning } = asked
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` }
  const body = JSON.stringify({ model, reasoning, messages: [{ role: 'user', content: 'hi' }] })
  const response = await fetch(`${gateway.url}/api/v1/chat/completions`, { method: 'POST', headers, body })
  const { choices } = (await response.json()) as { readonly choices: readonly { readonly message: unknown }[] }
  expect(choices[0]!.message).toMatchObject({ reasoning: 'Let me see', reasoning_content: 'Let me see' })
})

it('the setting is off by default, and a changed configuration takes effect while the gateway runs', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-'))
  try {
    const file = join(directory, 'signalbox.json')
    await writeFile(file, JSON.stringify(chatConfig([upstream.url])))
    await gateway.app.reload(await loadConfig({ file, env: { SIGNALBOX_DATA_DIR: directory }, cwd: directory }))
  } finally {
    await rm(directory, { recursive: true })
  }
  const { output } = checkWire(await (await gateway.respond({ ...asked, stream: true })).text())
  expect(reasoningOf(output)).toMatchObject({ summary: [], content })
})
