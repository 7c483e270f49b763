import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

describe.skipIf(!hasBrowser)('a double click', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const forms: { readonly [what: string]: { readonly at: string; readonly button: string; readonly fill: (page: Page) => Promise<void> } } = {
    'a key': { at: '/keys', button: 'Create key', fill: (page) => page.getByRole('textbox', { name: 'Name' }).fill('twice') },
    'a destination': {
      at: '/destinations',
      button: 'New destination',
      async fill(page) {
        await page.getByRole('combobox', { name: 'Type' }).click()
        await page.getByRole('option', { name: 'Webhook', exact: true }).click()
        await page.getByRole('textbox', { name: 'Name', exact: true }).fill('twice')
        await page.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:9/')
      },
    },
    'a guardrail': { at: '/guardrails', button: 'New guardrail', fill: (page) => page.getByRole('textbox', { name: 'Name' }).fill('twice') },
  }

  it.each(Object.keys(forms))('makes %s once', async (what) => {
    const { at, button, fill } = forms[what]!
    const { page, problems } = await browser.console(gateway, at)
    const asked: string[] = []
    page.on('request', (request) => request.method() === 'POST' && asked.push(request.url()))
    await page.getByRole('button', { name: button }).click()
    await fill(page)
    const submit = page.getByRole('dialog').locator('button[type="submit"]')
    // Both clicks come before the page has rendered anything.
    await submit.evaluate((element: { click(): void }) => {
      element.click()
      element.click()
    })
    await submit.and(page.getByText(/^Create/)).waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle')
    expect(asked).toHaveLength(1)
    expect(problems).toEqual([])
  })
})
