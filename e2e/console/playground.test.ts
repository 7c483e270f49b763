import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

interface Listed {
  readonly name: string
  readonly limit: number | null
  readonly limit_reset: string | null
  readonly expires_at: string | null
}

const WEATHER = '[{"type":"function","name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]'

/** A model that writes two words and then stalls. */
const withHanging = (config: ReturnType<typeof chatConfig>, url: string): ReturnType<typeof chatConfig> => ({
  providers: [...(config['providers'] as object[]), { slug: 'hanging', name: 'Hanging', dialect: 'openai-chat', base_url: url, api_keys: ['k'] }],
  models: [
    ...(config['models'] as object[]),
    { slug: 'hanging/words', context_length: 8_000, endpoints: [{ provider: 'hanging', upstream_model: 'words', pricing: { input: 1, output: 1 } }] },
  ],
})

describe.skipIf(!hasBrowser)('the playground', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let failing: FakeUpstream
  let serving: FakeUpstream
  let hanging: FakeUpstream
  beforeAll(async () => {
    failing = await startFakeUpstream(status(503, { error: { message: 'overloaded' } }))
    serving = await startFakeUpstream(stream(chatText('Hi ', 'there')))
    hanging = await startFakeUpstream(stream([chatEvents.role(), chatEvents.text('one two')], { then: 'hang' }))
    gateway = await startGateway(withHanging(chatConfig([failing.url, serving.url]), hanging.url))
  })
  afterAll(async () => {
    await gateway.close()
    await failing.close()
    await serving.close()
    await hanging.close()
  })

  /** The page, signed in with the gateway's key. */
  async function ready(model: string, at: Pick<TestGateway, 'url' | 'managementKey'> = gateway): ReturnType<typeof browser.open> {
    const opened = await browser.console(at, `/playground?model=${encodeURIComponent(model)}`)
    await opened.page.getByLabel('Inference key').fill(gateway.key)
    await opened.page.getByRole('button', { name: 'Use this key' }).click()
    await opened.page.getByLabel('Message').waitFor()
    return opened
  }
  const send = async (page: Page, text: string): Promise<void> => {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }
  const turn = (page: Page, number: number) => page.getByRole('region', { name: `Turn ${number}` })
  const choose = async (page: Page, model: string): Promise<void> => {
    await page.getByRole('combobox', { name: 'Model' }).fill(model)
    await page.keyboard.press('Escape')
  }
  const seen = (page: Page, number: number, text: string | RegExp) => turn(page, number).getByText(text).first().waitFor()
  const recordOf = async (page: Page, number: number): Promise<{ readonly [field: string]: unknown }> => {
    const id = await turn(page, number).getByRole('link', { name: /^gen-/ }).textContent()
    const answer = await gateway.api('GET', `/api/v1/generation?id=${id}`)
    return ((await answer.json()) as { readonly data: { readonly [field: string]: unknown } }).data
  }

  it('makes a key for a day with a limit one can change, and asks with it', async () => {
    const { page, problems } = await browser.console(gateway, '/playground?model=demo%2Fecho')
    await page.getByLabel('Limit in USD').fill('0.5')
    await page.getByRole('button', { name: 'Create and use the key' }).click()
    await page.getByText(/\$0\.5 left · until/).waitFor()
    await send(page, 'Hello **there**, <b>you</b>')
    await seen(page, 1, 'Demo (simulated) answered.')
    // Once in the question, once in the echo, and never rendered as HTML.
    expect(await turn(page, 1).getByText('Hello **there**, <b>you</b>', { exact: true }).count()).toBe(2)

    const { data } = (await (await gateway.api('GET', '/api/v1/keys')).json()) as { readonly data: readonly Listed[] }
    const made = data.find(({ name }) => name === 'Playground of the web console')
    expect(made).toMatchObject({ limit: 0.5, limit_reset: null })
    expect(Math.abs(Date.parse(made!.expires_at!) - Date.now() - 86_400_000)).toBeLessThan(120_000)
    expect(await page.evaluate('Object.keys(localStorage).filter((name) => name.includes("inference"))')).toEqual([])
    expect(await recordOf(page, 1)).toMatchObject({ model: 'demo/echo', streamed: true, cancelled: false })
    expect(problems).toEqual([])
  })

  it('takes no management key', async () => {
    const { page } = await browser.console(gateway, '/playground')
    await page.getByLabel('Inference key').fill(gateway.managementKey)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByText('This is a management key').waitFor()
    await page.getByLabel('Inference key').fill('sk-sb-v1-unknown')
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByText('The gateway does not accept this key').waitFor()
  })

  it('shows what was thought, and sends earlier turns again', async () => {
    const { page, problems } = await ready('demo/reason')
    await send(page, 'First')
    await turn(page, 1).getByText('Reasoning', { exact: true }).click()
    await seen(page, 1, /The user wrote something/)
    await choose(page, 'acme/small')
    await send(page, 'Second')
    await seen(page, 2, 'Hi there')
    const messages = serving.requests.at(-1)!.body['messages'] as readonly { readonly role: string; readonly content: string }[]
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'First'],
      ['assistant', 'First'],
      ['user', 'Second'],
    ])
    expect(problems).toEqual([])
  })

  it('writes from right to left what is written so: the stop of an Arabic sentence is at its left end', async () => {
    const { page, problems } = await ready('demo/echo')
    const sentence = 'مرحبا بالعالم.'
    await page.getByLabel('Message').fill(sentence)
    expect(await page.evaluate('getComputedStyle(document.activeElement).unicodeBidi')).toBe('plaintext')
    await page.getByRole('button', { name: 'Send' }).click()
    await turn(page, 1).getByRole('link', { name: /^gen-/ }).waitFor()
    const endsLeft =
      await page.evaluate(`[...document.querySelectorAll('section p')].filter((p) => p.textContent === '${sentence}').map(({ firstChild: text }) => {
      const leftOf = (index) => {
        const range = document.createRange()
        range.setStart(text, index)
        range.setEnd(text, index + 1)
        return range.getBoundingClientRect().left
      }
      return leftOf(text.length - 1) < leftOf(0)
    })`)
    expect(endsLeft).toEqual([true, true])
    expect(problems).toEqual([])
  })

  it('shows calls, takes their results, and shows what tools of the gateway did', async () => {
    const { page, problems } = await ready('demo/tool')
    await page.getByLabel('Tools (JSON)').fill(WEATHER)
    await send(page, 'How warm is it?')
    await turn(page, 1).getByLabel('arguments of weather').getByText('"city": "example"').waitFor()
    await page.getByLabel('Result of weather').fill('21 degrees')
    await page.getByRole('button', { name: 'Send' }).click()
    await seen(page, 2, 'The tool answered: 21 degrees')

    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByLabel('Tools (JSON)').fill('[{"type":"gateway:datetime"}]')
    await send(page, 'What time is it?')
    await turn(page, 1).getByLabel('datetime of gateway:datetime').waitFor()
    await seen(page, 1, /The tool answered/)
    expect(problems).toEqual([])
  })

  it('shows a failover: which endpoint failed, why, and which answered', async () => {
    const { page, problems } = await ready('acme/small')
    await page.getByLabel('Provider preferences (JSON)').fill('{"order": ["acme", "backup1"]}')
    await send(page, 'Hello')
    await seen(page, 1, /^Acme 1 answered after \d failed attempts?: Acme 0 503 provider_overloaded\.$/)
    const rows = await turn(page, 1).getByRole('table', { name: 'Endpoints' }).getByRole('row').allTextContents()
    expect(rows).toEqual(['ProviderModelResult', 'Acme 0acme/smallfailed: 503 provider_overloaded', 'Acme 1acme/smallanswered'])
    expect(await recordOf(page, 1)).toMatchObject({ provider_name: 'Acme 1' })
    expect(problems).toEqual([])
  })

  it('shows an error with the message of the gateway, keeps what was typed, and lists the attempts', async () => {
    const { page, problems } = await ready('demo/error-429')
    await send(page, 'Please')
    await turn(page, 1).getByRole('alert').getByText('(simulated) Error 429 (simulated)', { exact: true }).waitFor()
    await seen(page, 1, /^No answer; \d failed attempts/)
    expect(await page.getByLabel('Message').inputValue()).toBe('Please')

    await choose(page, 'demo/echo')
    await page.getByLabel('Temperature').fill('9')
    // The selection is in the URL, so it can be shared.
    expect(new URL(page.url()).searchParams.get('model')).toBe('demo/echo')
    await page.getByRole('button', { name: 'Send' }).click()
    await turn(page, 2).getByRole('alert').waitFor()
    const [message] = await turn(page, 2).getByRole('alert').locator('p').allTextContents()
    expect(await page.getByRole('region', { name: 'Settings of the request' }).getByText(message!).count()).toBe(1)
    await page.getByLabel('Temperature').fill('1')
    expect(await page.getByRole('region', { name: 'Settings of the request' }).getByText(message!).count()).toBe(0)
    await page.getByRole('button', { name: 'Send' }).click()
    await seen(page, 3, 'Demo (simulated) answered.')
    expect(problems).toEqual([])
  })

  it('shows a stream that broke with the part that had arrived', async () => {
    const { page, problems } = await ready('demo/cut')
    await send(page, 'one two three four')
    await turn(page, 1).getByRole('alert').getByText('Demo (simulated): the connection ended early').waitFor()
    expect(await turn(page, 1).getByText('one two', { exact: true }).count()).toBe(1)
    await seen(page, 1, /^No complete answer/)
    expect(problems).toEqual([])
  })

  it('stops an answer: the gateway records that it was cancelled', async () => {
    const { page, problems } = await ready('hanging/words')
    await send(page, 'go on')
    await seen(page, 1, 'one two')
    await page.getByRole('button', { name: 'Stop' }).click()
    await seen(page, 1, 'You stopped it. The partial answer is kept.')
    await expect.poll(async () => (await recordOf(page, 1))['cancelled'], { timeout: 5_000 }).toBe(true)
    expect(problems).toEqual([])
  })

  it('shows what had arrived before the connection broke', async () => {
    const wire = await startWire(gateway.url)
    try {
      const { page } = await ready('hanging/words', { ...gateway, url: wire.url })
      await send(page, 'go on')
      await seen(page, 1, 'one two')
      wire.cut()
      await turn(page, 1).getByRole('alert').getByText('The connection broke').waitFor()
      await seen(page, 1, 'one two')
    } finally {
      await wire.close()
    }
  })

  it('plans a call without sending it, and says why an endpoint would not be used', async () => {
    const { page, problems } = await ready('acme/small')
    const asked = serving.requests.length
    await page.getByLabel('Provider preferences (JSON)').fill('{"ignore": ["acme"]}')
    await page.getByLabel('Message').fill('Hello')
    await page.getByRole('button', { name: 'Plan' }).click()
    await page.getByRole('table', { name: 'Endpoints that would be tried' }).getByText('Acme 1').waitFor()
    await page.getByRole('table', { name: 'Endpoints that would not be tried' }).getByText('provider.ignore names it').waitFor()
    expect(serving.requests.length).toBe(asked)
    expect(problems).toEqual([])
  })

  it('shows code that works, without the key in it', async () => {
    const { page, problems } = await ready('demo/echo')
    await page.getByLabel('Message').fill("it's")
    await page.getByRole('button', { name: 'As code' }).click()
    const code = (await page.getByLabel('the request in curl', { exact: true }).textContent()) ?? ''
    expect(code).toContain(`${gateway.url}/api/v1/responses`)
    expect(code).toContain('$SIGNALBOX_API_KEY')
    expect(code).not.toContain(gateway.key)
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByLabel('the request in Python', { exact: true }).getByText('client.responses.create').waitFor()
    expect(problems).toEqual([])
  })

  it('sends a body written as JSON as it stands, with or without a stream', async () => {
    const { page, problems } = await ready('demo/echo')
    await page.getByText('JSON', { exact: true }).click()
    const body = page.getByLabel('Request body')
    expect(JSON.parse(await body.inputValue())).toEqual({ model: 'demo/echo', input: [], stream: true })
    await body.fill('{')
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await body.fill('{"model": "demo/echo", "input": "raw", "metadata": {"a": "b"}}')
    await page.getByRole('button', { name: 'Send' }).click()
    await turn(page, 1).getByText('raw', { exact: true }).waitFor()
    expect(await recordOf(page, 1)).toMatchObject({ streamed: false })
    expect(problems).toEqual([])
  })

  it('keeps the conversation and what is typed when its page is reloaded, and ends an answer that was streaming', async () => {
    const { page, problems } = await ready('demo/echo')
    await send(page, 'remember me')
    await seen(page, 1, 'Demo (simulated) answered.')
    await page.getByRole('combobox', { name: 'Model' }).fill('demo/slow')
    await send(page, 'one two three four five six seven eight nine ten')
    await page.getByText('Answering').waitFor()
    await page.getByLabel('Message').fill('not yet sent')
    await page.reload()
    await seen(page, 1, 'Demo (simulated) answered.')
    await seen(page, 2, 'The page was reloaded during the answer.')
    expect(await page.getByLabel('Message').inputValue()).toBe('not yet sent')
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('remember me')
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Sign out' }).click()
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('remember me')
    expect(problems).toEqual([])
  })

  it('keeps the conversation and what is typed while another page is open, and nothing after signing out', async () => {
    const { page, problems } = await ready('demo/echo')
    await send(page, 'remember me')
    await seen(page, 1, 'Demo (simulated) answered.')
    const lookAway = async (): Promise<void> => {
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
      await page.getByRole('link', { name: 'Playground', exact: true }).click()
      await seen(page, 1, 'remember me')
    }
    await page.getByLabel('Message').fill('not yet sent')
    await lookAway()
    expect(await page.getByLabel('Message').inputValue()).toBe('not yet sent')
    await page.getByText('JSON', { exact: true }).click()
    await page.getByLabel('Request body').fill('{"written": "by hand"}')
    await lookAway()
    expect(await page.getByLabel('Request body').inputValue()).toBe('{"written": "by hand"}')
    expect(await turn(page, 1).getByText('remember me', { exact: true }).count()).toBe(2)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Management key').fill(gateway.managementKey)
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(gateway.key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Create a key for one day' }).waitFor()
    await page.getByLabel('Inference key').fill(gateway.key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByText('Choose a model, write a message').waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('')
    expect(problems).toEqual([])
  })
})

/** A connection to the gateway that can be cut for all its users. */
async function startWire(to: string): Promise<{ readonly url: string; readonly cut: () => void; readonly close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(new URL(to).port), '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    near.pipe(far).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
