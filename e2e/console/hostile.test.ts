import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Text that takes effect wherever it is treated as a page, a script or an address. */
const attack = (where: string): string => `<img src=x onerror="window.owned='${where}'"><script>window.owned='${where}'</script>"'${where}`

const REMOTE = 'https://attacker.example/steal.png'

describe.skipIf(!hasBrowser)('texts of callers, models and platforms are shown as plain text in the console', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let upstream: FakeUpstream
  let receiver: FakeDestination
  beforeAll(async () => {
    upstream = await startFakeUpstream(stream(chatText(attack('answer'), ` ![x](${REMOTE}) [y](javascript:window.owned='link')`)))
    receiver = await startFakeDestination(() => ({ kind: 'answer', status: 400, body: attack('platform') }))
    gateway = await startGateway(chatConfig([upstream.url]))
    await gateway.api('PATCH', '/api/v1/workspaces/default', { is_observability_io_logging_enabled: true, name: attack('workspace') })
    await gateway.api('POST', '/api/v1/keys', { name: attack('key') })
    await gateway.api('POST', '/api/v1/observability/destinations', { type: 'webhook', name: attack('destination'), config: { url: receiver.url } })
    await gateway.api('POST', '/api/v1/guardrails', { name: attack('guardrail'), description: attack('description') })
    await gateway.api('POST', '/api/v1/presets', { slug: 'hostile', name: attack('preset'), system_prompt: attack('prompt') })
    const hostile = { session_id: attack('session'), user: attack('user'), metadata: { note: attack('metadata') }, trace: { name: attack('trace') } }
    for (const model of ['acme/small', 'demo/error-429']) {
      const asked = await gateway.respond({ model, input: attack('input'), ...hostile }, { headers: { 'user-agent': attack('agent') } })
      await asked.text()
    }
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
    await receiver.close()
  })

  type Opened = Awaited<ReturnType<typeof browser.open>>

  /** Records all requests of a page, and whether any of the received text was executed. */
  async function watched(path: string, look: (page: Opened['page']) => Promise<unknown>): Promise<void> {
    const { page, problems } = await browser.console(gateway, path)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await look(page)
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate('window.owned')).toBeUndefined()
    expect(asked.filter((url) => new URL(url).origin !== gateway.url)).toEqual([])
    expect(problems).toEqual([])
  }

  it.each([
    ['/keys', 'key'],
    ['/workspaces', 'workspace'],
    ['/destinations', 'destination'],
    ['/guardrails', 'guardrail'],
    ['/presets', 'preset'],
  ])('%s', (path, where) =>
    watched(path, async (page) => {
      // Shown exactly as written.
      await page.getByText(attack(where), { exact: true }).first().click()
      await page.getByRole('dialog').waitFor()
    }),
  )

  it('a generation, its record and its stored texts', () =>
    watched('/generations', async (page) => {
      await page.getByRole('row').filter({ hasText: 'acme/small' }).click()
      const dialog = page.getByRole('dialog', { name: 'Generation' })
      await dialog.getByText(attack('session')).waitFor()
      await dialog.getByText(attack('agent')).waitFor()
      await dialog.getByRole('tab', { name: 'Record' }).click()
      await dialog.getByText('metadata').first().waitFor()
      await dialog.getByRole('tab', { name: 'Content' }).click()
      await dialog.getByText(attack('answer')).first().waitFor()
    }))

  it('an answer in the playground', () =>
    watched('/playground?model=acme%2Fsmall', async (page) => {
      await page.getByLabel('Inference key').fill(gateway.key)
      await page.getByRole('button', { name: 'Use this key' }).click()
      await page.getByLabel('Message').fill(attack('message'))
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText(attack('answer')).first().waitFor()
      await page.getByText(attack('message')).first().waitFor()
      expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
    }))

  it('the answer of a platform to a connection test', () =>
    watched('/destinations', async (page) => {
      await page.getByText(attack('destination'), { exact: true }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: /^Test/ }).first().click()
      await dialog
        .getByText(/platform/)
        .first()
        .waitFor()
    }))
})
