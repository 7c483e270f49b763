import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useAxe } from '../../src/testing/axe.ts'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** The size of a window of 1280 pixels at 400 %, which WCAG 2.2 requires (1.4.10). */
const NARROW = { width: 320, height: 640 }
const PAGES = ['/', '/generations', '/playground', '/destinations', '/models', '/keys', '/workspaces', '/provider-keys', '/guardrails', '/presets']

describe.skipIf(!hasBrowser)('a window of 320 pixels', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
    await gateway.api('POST', '/api/v1/presets', { slug: 'x'.repeat(50), system_prompt: 'Be short.' })
  })
  afterAll(() => gateway.close())

  it.each(PAGES)('has all of the frame and the head of %s', async (path) => {
    const { page, problems } = await browser.console(gateway, path)
    await page.setViewportSize(NARROW)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(NARROW.width)
    const bottomOf = async (role: 'banner' | 'button', name?: string): Promise<number> => {
      const { y, height } = (await page
        .getByRole(role, name === undefined ? {} : { name })
        .first()
        .boundingBox())!
      return y + height
    }
    expect(await bottomOf('button', 'Sign out')).toBeLessThan(await bottomOf('banner'))
    expect(problems).toEqual([])
  })

  it('has the navigation in the tab order while it is open, and not while it is closed', async () => {
    const { page } = await browser.console(gateway, '/keys')
    await page.setViewportSize(NARROW)
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.waitFor()
    const away = page.locator('nav[inert]')
    await away.waitFor({ state: 'attached' })
    expect(await menu.getAttribute('aria-expanded')).toBe('false')
    const next = page.getByRole('button', { name: 'Create key' })
    await next.waitFor()
    await page.getByRole('button', { name: 'Sign out' }).focus()
    await page.keyboard.press('Tab')
    await next.and(page.locator(':focus')).waitFor()
    await menu.click()
    expect(await menu.getAttribute('aria-expanded')).toBe('true')
    await page.getByRole('link', { name: 'Presets' }).click()
    await page.getByRole('heading', { name: 'Presets' }).waitFor()
    // Screen readers are told where one is, as the colour tells everybody else.
    expect(await page.locator('nav [aria-current="page"]').allTextContents()).toEqual(['Presets'])
    await away.waitFor({ state: 'attached' })
  })

  it('lets the keyboard scroll a table whose rows do not open, and fits the texts of a panel', async () => {
    const { page } = await browser.console(gateway, `/presets?preset=${'x'.repeat(50)}`)
    await page.setViewportSize(NARROW)
    const panel = page.getByRole('dialog')
    const table = panel.getByRole('table', { name: 'Versions' })
    await table.waitFor()
    await useAxe(page)
    const faults = `axe.run(document, { runOnly: ['scrollable-region-focusable'] }).then(({ violations }) => violations.length)`
    expect(await page.evaluate(faults)).toBe(0)
    const asked = panel.getByText('To use another model')
    expect(await asked.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(false)
  })
})
