import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** What can be deleted: the page with its list, and how one is made. */
interface Kind {
  readonly path: string
  readonly button: string
  readonly make: (name: string) => readonly [path: string, body: object]
}

const KINDS: { readonly [what: string]: Kind } = {
  'a key': { path: '/keys', button: 'Revoke', make: (name) => ['/keys', { name }] },
  'a preset': { path: '/presets', button: 'Delete', make: (name) => ['/presets', { slug: name, config: { temperature: 0.2 } }] },
}

/** A gateway that is far away or overloaded: the user has long turned to something else. */
describe.skipIf(!hasBrowser)('an answer that comes late', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const make = async (path: string, body: object): Promise<void> => expect((await gateway.api('POST', `/api/v1${path}`, body)).ok).toBe(true)

  /**
   * Holds back deletions until it is called; then waits until the page has the answer and has had time to act on it. `status`: of a proxy that answers
   * instead of the gateway.
   */
  async function holdDeletions(page: Page, status?: number): Promise<() => Promise<void>> {
    const holding = Promise.withResolvers<void>()
    await page.route('**/api/v1/**', async (route) => {
      const isHeld = route.request().method() === 'DELETE'
      if (isHeld) await holding.promise
      return isHeld && status !== undefined ? route.fulfill({ status }) : route.continue()
    })
    return async () => {
      const answered = page.waitForResponse((response) => response.request().method() === 'DELETE')
      holding.resolve()
      await answered
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))')
    }
  }

  /** Begins to delete the thing, and leaves its question and its panel. */
  async function deleteAndLeave(page: Page, button: string, name: string): Promise<void> {
    await page.locator('tr', { hasText: name }).click()
    await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
    const question = page.getByRole('dialog', { name: new RegExp(`${name}.*\\?$`) })
    await question.getByRole('button', { name: button, exact: true }).click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  it.each(Object.keys(KINDS))('that %s was deleted closes no other panel, and takes nothing that is typed there', async (what) => {
    const { path, button, make: of } = KINDS[what]!
    await make(...of('unwanted'))
    await make(...of('precious'))
    const { page, problems } = await browser.console(gateway, path)
    const answer = await holdDeletions(page)
    await deleteAndLeave(page, button, 'unwanted')
    await page.locator('tr', { hasText: 'precious' }).click()
    const typed = page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true })
    await typed.fill('typed meanwhile')
    await answer()
    await page.locator('tr', { hasText: 'unwanted' }).waitFor({ state: 'detached' })
    expect(await typed.inputValue()).toBe('typed meanwhile')
    expect(problems).toEqual([])
  })

  it('that refuses is shown though the question was left while waiting: silence would pass for success', async () => {
    await make('/keys', { name: 'to stay' })
    const { page, problems } = await browser.console(gateway, '/keys')
    const answer = await holdDeletions(page, 503)
    await page.locator('tr', { hasText: 'to stay' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke to stay?' })
    await question.getByRole('button', { name: 'Revoke' }).click()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await answer()
    await question.getByRole('alert').getByText('The gateway answered with status 503.').waitFor()
    expect(problems).toEqual([])
  })

  it('leads nobody back from the page they have gone to', async () => {
    await make('/keys', { name: 'left behind' })
    const { page, problems } = await browser.console(gateway, '/keys')
    const answer = await holdDeletions(page)
    await deleteAndLeave(page, 'Revoke', 'left behind')
    await page.getByRole('link', { name: 'Models' }).click()
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    await answer()
    expect(page.url()).toContain('/console/models')
    expect(problems).toEqual([])
  })
})
