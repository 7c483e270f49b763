import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

interface Form {
  readonly path: () => string
  /** Undefined if the address itself opens the form. */
  readonly button?: string
  readonly field: (page: Page) => Locator
}

/** Input is not lost by accident: every form of the console asks before it closes. */
describe.skipIf(!hasBrowser)('what was typed in a form', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  const ids: { [name: string]: string } = {}
  beforeAll(async () => {
    gateway = await startGateway()
    const make = async <T>(path: string, body: object): Promise<T> => (await (await gateway.api('POST', `/api/v1${path}`, body)).json()) as T
    const id = ({ data }: { readonly data: { readonly id: string } }): string => data.id
    ids['key'] = (await make<{ data: { hash: string } }>('/keys', { name: 'one' })).data.hash
    ids['workspace'] = id(await make('/workspaces', { name: 'Team', slug: 'team' }))
    ids['guardrail'] = id(await make('/guardrails', { name: 'rule' }))
    ids['own'] = id(await make('/byok', { provider: 'demo', key: 'sk-of-its-own' }))
    ids['hook'] = id(await make('/observability/destinations', { type: 'webhook', name: 'hook', config: { url: 'http://127.0.0.1:9/' } }))
    await make('/presets', { slug: 'polite', config: { temperature: 0.2 } })
  })
  afterAll(() => gateway.close())

  const inForm =
    (form: string, label: string) =>
    (page: Page): Locator =>
      page.getByRole('form', { name: form }).getByRole('textbox', { name: label, exact: true })
  const textbox =
    (name: string) =>
    (page: Page): Locator =>
      page.getByRole('dialog').getByRole('textbox', { name, exact: true })
  const forms: { readonly [what: string]: Form } = {
    'a new key': { path: () => '/keys', button: 'Create key', field: inForm('New key', 'Name') },
    'a key': { path: () => `/keys?key=${ids['key']!}`, field: inForm('Edit key', 'Name') },
    'a new workspace': { path: () => '/workspaces', button: 'Create workspace', field: inForm('New workspace', 'Name') },
    'a workspace': { path: () => `/workspaces?workspace=${ids['workspace']!}`, field: inForm('Edit workspace', 'Description') },
    budgets: { path: () => `/workspaces?workspace=${ids['workspace']!}`, field: inForm('Budgets', 'Per day') },
    'a new provider key': { path: () => '/provider-keys', button: 'Add key', field: inForm('New provider key', 'Name') },
    'a provider key': { path: () => `/provider-keys?key=${ids['own']!}`, field: inForm('Edit provider key', 'Name') },
    'a new preset': { path: () => '/presets', button: 'Create preset', field: inForm('New preset', 'Slug') },
    'a preset': { path: () => '/presets?preset=polite', field: inForm('Edit preset', 'Description') },
    'a new version': { path: () => '/presets?preset=polite', field: inForm('New version', 'System prompt') },
    'a new guardrail': { path: () => '/guardrails', button: 'New guardrail', field: textbox('Name') },
    'a guardrail': { path: () => `/guardrails?open=${ids['guardrail']!}`, field: textbox('Name') },
    'a destination': { path: () => `/destinations?destination=${ids['hook']!}&tab=settings`, field: textbox('Name') },
  }
  const question = (page: Page): Locator => page.getByRole('dialog', { name: 'Leave without saving?' })
  const beside = (page: Page): Promise<void> => page.mouse.click(8, 880)
  const opened = async (what: string): Promise<{ readonly page: Page; readonly field: Locator; readonly problems: readonly string[] }> => {
    const { path, button, field } = forms[what]!
    const { page, problems } = await browser.console(gateway, path())
    if (button !== undefined) await page.getByRole('button', { name: button, exact: true }).click()
    await field(page).waitFor()
    return { page, field: field(page), problems }
  }

  it.each(Object.keys(forms))('is not lost by a click beside %s, by Escape or by its close button without a confirmation', async (what) => {
    const { page, field, problems } = await opened(what)
    const typed = what === 'budgets' ? '$3' : 'typed'
    await field.fill(what === 'budgets' ? '3' : typed)
    for (const leave of [
      () => beside(page),
      () => page.keyboard.press('Escape'),
      () =>
        page
          .getByRole('dialog')
          .getByRole('button', { name: /^Close/ })
          .first()
          .click(),
    ]) {
      await leave()
      await question(page).getByRole('button', { name: 'Keep editing' }).click()
      await question(page).waitFor({ state: 'detached' })
      expect(await field.inputValue()).toBe(typed)
      await field.focus()
    }
    await beside(page)
    await question(page).getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('dialog').first().waitFor({ state: 'detached' })
    // The keyboard goes on where it was before the form opened.
    const { button } = forms[what]!
    if (button !== undefined) await page.getByRole('button', { name: button, exact: true }).and(page.locator(':focus')).waitFor({ timeout: 5_000 })
    expect(problems).toEqual([])
  })

  it.each(['a new key', 'a workspace', 'a guardrail'])('needs no confirmation in %s when it was emptied again', async (what) => {
    const { page, field } = await opened(what)
    await field.fill('typed')
    await field.fill(what === 'a guardrail' ? 'rule' : '')
    await beside(page)
    await page.getByRole('dialog').first().waitFor({ state: 'detached' })
  })

  it.each(['a key', 'a guardrail'])(
    'needs a confirmation after Escape, too, where %s has lost the focus because the pressed button was disabled',
    async (what) => {
      const { page, field, problems } = await opened(what)
      await page.route('**/api/v1/*/*', (route) =>
        route.request().method() === 'PATCH' ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
      )
      await field.fill('typed')
      // The button is disabled while saving, and then nothing has the focus.
      await page.getByRole('button', { name: /^Save/ }).press('Enter')
      await page.getByText('The gateway answered with status 503.').waitFor()
      await page.keyboard.press('Escape')
      await question(page).getByRole('button', { name: 'Keep editing' }).click()
      expect(await field.inputValue()).toBe('typed')
      await page.evaluate('document.activeElement.blur()')
      await page.keyboard.press('Escape')
      await question(page).getByRole('button', { name: 'Discard changes' }).click()
      await page.getByRole('dialog').first().waitFor({ state: 'detached' })
      expect(problems).toEqual([])
    },
  )

  it('is not lost by the back button, which takes effect once confirmed', async () => {
    const { page } = await browser.console(gateway, '/keys')
    await page.getByRole('row', { name: /one/ }).click()
    const field = inForm('Edit key', 'Name')(page)
    await field.fill('typed')
    await page.evaluate('history.back()')
    await question(page).getByRole('button', { name: 'Keep editing' }).click()
    expect(await field.inputValue()).toBe('typed')
    expect(page.url()).toContain(`key=${ids['key']!}`)
    await page.evaluate('history.back()')
    await question(page).getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('dialog').first().waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('key=')
  })

  it('is not lost by opening another tab of a destination or a link to another page', async () => {
    const destination = await opened('a destination')
    await destination.field.fill('typed')
    await destination.page.getByRole('tab', { name: 'Status' }).click()
    await question(destination.page).getByRole('button', { name: 'Keep editing' }).click()
    expect(await destination.field.inputValue()).toBe('typed')

    const budgets = await opened('budgets')
    await budgets.field.fill('3')
    await budgets.page.getByRole('link', { name: 'Its keys' }).click()
    await question(budgets.page).getByRole('button', { name: 'Discard changes' }).click()
    await budgets.page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
  })
})
