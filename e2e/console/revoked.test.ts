import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Keys are revoked while somebody types. */
describe.skipIf(!hasBrowser)('a management key that is no longer accepted', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let elsewhere: string
  beforeAll(async () => {
    gateway = await startGateway()
    const made = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Apart', slug: 'apart' })).json()) as { data: { id: string } }
    elsewhere = made.data.id
  })
  afterAll(() => gateway.close())

  const makeKey = (workspaceId?: string) =>
    gateway.app.accounts.create({ name: 'manager', kind: 'management', ...(workspaceId === undefined ? {} : { workspaceId }) })

  /** A form with input whose user's key was just revoked; `asked`: the requests with that key. */
  const typed = async (): Promise<{ readonly page: Page; readonly problems: readonly string[]; readonly asked: readonly string[] }> => {
    const { key, secret } = await makeKey()
    const { page, problems } = await browser.console({ url: gateway.url, managementKey: secret.reveal() }, '/keys')
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.headers()['authorization'] === `Bearer ${secret.reveal()}`) asked.push(request.url())
    })
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill('typed with care')
    await page.getByLabel('Requests per minute').fill('77')
    await gateway.app.accounts.revoke(key.hash)
    asked.length = 0
    await page.getByRole('dialog', { name: 'Create a key' }).getByRole('button', { name: 'Create key' }).click()
    return { page, problems, asked }
  }
  const again = (page: Page) => page.getByRole('dialog', { name: 'Sign in again' })
  const signIn = async (page: Page, key: string): Promise<void> => {
    await again(page).getByLabel('Management key').fill(key)
    await again(page).getByRole('button', { name: 'Sign in' }).click()
  }

  it('loses nothing that was typed: the user continues with another key of the same workspace', async () => {
    const { page, problems, asked } = await typed()
    await again(page).waitFor()
    await page.keyboard.press('Escape')
    await signIn(page, `sk-sb-mgmt-v1-${'c3'.repeat(24)}`)
    await again(page).getByText('The gateway does not know this key').waitFor()
    await signIn(page, (await makeKey()).secret.reveal())
    await again(page).waitFor({ state: 'hidden' })
    const form = page.getByRole('dialog', { name: 'Create a key' })
    expect(await form.getByLabel('Name').inputValue()).toBe('typed with care')
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /typed with care.*77 req\/min/ }).waitFor()
    // It was refused once; repeated requests would look as if somebody were guessing keys.
    expect(asked).toHaveLength(1)
    expect(problems).toEqual([])
  })

  it('keeps nothing for a key with access to something else', async () => {
    const { page } = await typed()
    await signIn(page, (await makeKey(elsewhere)).secret.reveal())
    await page.getByText('No keys in use in this workspace yet').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('leads to the sign-in page where nothing was typed, or the user has no other key', async () => {
    const { page } = await typed()
    await again(page).getByRole('button', { name: 'Discard changes' }).click()
    await page.getByText('This key is no longer accepted').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByLabel('Management key').fill((await makeKey()).secret.reveal())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})
