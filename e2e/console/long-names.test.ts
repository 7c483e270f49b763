import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A name without any place for a line break. */
const LONG = 'production_traces_of_every_team_'.repeat(6)

describe.skipIf(!hasBrowser)('a name without spaces that is wider than a window', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await gateway.api('POST', '/api/v1/observability/destinations', { type: 'webhook', name: LONG, config: { url: 'http://127.0.0.1:9/' } })
    await gateway.api('POST', '/api/v1/guardrails', { name: LONG })
    const { key } = (await (await gateway.api('POST', '/api/v1/keys', { name: LONG })).json()) as { readonly key: string }
    await (await gateway.respond({ model: 'demo/echo', input: 'hi' }, { key })).json()
  })
  afterAll(() => gateway.close())

  it.each([
    ['/destinations', 'Delete destination'],
    ['/keys', 'Revoke'],
  ])('leaves the close buttons of panels and dialogs within the window (%s)', async (path, question) => {
    const { page, problems } = await browser.console(gateway, path)
    await page.setViewportSize({ width: 375, height: 800 })
    await page.getByText(LONG).first().click()
    const rightOfClose = async (dialog: Locator): Promise<number> => {
      const { x, width } = (await dialog.getByRole('button', { name: 'Close' }).boundingBox())!
      return x + width
    }
    const panel = page.getByRole('dialog').first()
    expect(await rightOfClose(panel)).toBeLessThan(375)
    await panel.getByRole('button', { name: question }).click()
    expect(await rightOfClose(page.getByRole('dialog', { name: LONG }).last())).toBeLessThan(375)
    expect(problems).toEqual([])
  })

  it.each([
    ['/guardrails', 'Guardrails', 'Updated'],
    ['/generations', 'Generations', 'Provider'],
  ])('leaves the other columns of a list visible (%s)', async (path, list, column) => {
    const { page } = await browser.console(gateway, path)
    const table = page.getByRole('table', { name: list })
    await table.getByText(LONG).first().waitFor()
    const { x, width } = (await table.getByRole('columnheader', { name: column }).boundingBox())!
    expect(x + width).toBeLessThan(1280)
    // On paper nothing scrolls: only what the page knows to be wide is made smaller instead of cut.
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: 700, height: 900 })
    const room = (): Promise<unknown> =>
      page.evaluate(`document.documentElement.scrollWidth - [...document.querySelectorAll('th')].at(-1).getBoundingClientRect().right`)
    await expect.poll(room).toBeGreaterThan(-1)
    expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(false)
  })
})
