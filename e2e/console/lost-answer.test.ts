import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A proxy that gives up, or somebody else who was faster. */
describe.skipIf(!hasBrowser)('a change that the gateway made, and the page was not told of', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  it('shows in the list the key whose creation was answered by a proxy: it works, and a second try would make another', async () => {
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.route('**/api/v1/keys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      await route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' })
    })
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill('made unseen')
    const form = page.getByRole('dialog', { name: 'Create a key' })
    await form.getByRole('button', { name: 'Create key' }).click()
    await form.getByText('The gateway answered with status 502.').waitFor()
    expect(await form.getByLabel('Name').inputValue()).toBe('made unseen')
    // Behind the dialog, which hides it from screen readers.
    await page.locator('tr', { hasText: 'made unseen' }).waitFor({ timeout: 5_000 })
    expect(problems).toEqual([])
  })

  it('says that JSON of a proxy is no answer of the gateway, and keeps what was typed', async () => {
    const { page, problems } = await browser.console(gateway, '/workspaces')
    await page.route('**/api/v1/workspaces', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ json: { message: 'maintenance' } }) : route.continue(),
    )
    await page.getByRole('button', { name: 'Create workspace' }).click()
    const form = page.getByRole('dialog', { name: 'Create a workspace' })
    await form.getByLabel('Name').fill('Team A')
    await form.getByRole('button', { name: 'Create workspace' }).click()
    await form.getByText('The answer did not come from the gateway.').waitFor({ timeout: 5_000 })
    expect(await form.getByLabel('Name').inputValue()).toBe('Team A')
    expect(problems).toEqual([])
  })

  it('lists what somebody else made, once the gateway said that its name is taken', async () => {
    const { page, problems } = await browser.console(gateway, '/presets')
    await page.getByRole('button', { name: 'Create one' }).click()
    const form = page.getByRole('form', { name: 'New preset' })
    await form.getByLabel('Slug').fill('brief')
    await form.getByLabel('Configuration').fill('{ "model": "demo/echo" }')
    await gateway.api('POST', '/api/v1/presets', { slug: 'brief', config: { model: 'demo/echo' } })
    await form.getByRole('button', { name: 'Create preset' }).click()
    await page.locator('tr', { hasText: '@preset/brief' }).waitFor({ timeout: 5_000 })
    expect(await form.getByLabel('Slug').inputValue()).toBe('brief')
    expect(problems).toEqual([])
  })

  it('no longer lists what somebody else deleted, once the gateway said that there is no such thing', async () => {
    const made = await gateway.api('POST', '/api/v1/guardrails', { name: 'Shared' })
    const { id } = ((await made.json()) as { readonly data: { readonly id: string } }).data
    const { page, problems } = await browser.console(gateway, `/guardrails?open=${id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await gateway.api('DELETE', `/api/v1/guardrails/${id}`)
    await page.getByRole('dialog', { name: 'Delete “Shared”?' }).getByRole('button', { name: 'Delete' }).click()
    await page.locator('tr', { hasText: 'Shared' }).waitFor({ state: 'detached', timeout: 5_000 })
    expect(problems).toEqual([])
  })
})
