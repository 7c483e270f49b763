import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, paste, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

type Stored = { readonly id: string; readonly name: string; readonly [field: string]: unknown }

/** Returning to the window after a minute reloads the data. */
const LOOK_AGAIN = 'Date.now = ((real) => () => real() + 60_000)(Date.now); window.dispatchEvent(new Event("visibilitychange"))'

describe.skipIf(!hasBrowser)('the page of guardrails', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const list = async (): Promise<readonly Stored[]> =>
    ((await (await gateway.api('GET', '/api/v1/guardrails')).json()) as { readonly data: readonly Stored[] }).data
  const named = async (name: string): Promise<Stored | undefined> => (await list()).find((one) => one.name === name)
  const make = async (body: object): Promise<Stored> =>
    ((await (await gateway.api('POST', '/api/v1/guardrails', body)).json()) as { readonly data: Stored }).data
  const makeKey = async (name: string): Promise<string> =>
    ((await (await gateway.api('POST', '/api/v1/keys', { name })).json()) as { readonly key: string }).key
  const open = (page: Page, name: string): Promise<void> =>
    page.getByRole('table', { name: 'Guardrails' }).getByRole('row').filter({ hasText: name }).click()
  const choose = async (page: Page, label: string, option: string): Promise<void> => {
    await page.getByRole('combobox', { name: label, exact: true }).click()
    await page.getByRole('option', { name: option }).click()
  }

  it('makes one, puts a key under it, and the gateway refuses what that key asks for', async () => {
    const key = await makeKey('tenant')
    const { page, problems } = await browser.console(gateway, '/guardrails')
    await page.getByRole('button', { name: 'New guardrail' }).click()
    await page.getByLabel('Name').fill('No secrets')
    await paste(page.getByRole('combobox', { name: 'Ignored models' }), 'demo/reason\r\ndemo/tools\n')
    await page.getByRole('button', { name: 'Add to Content filters' }).click()
    await page.getByLabel('Pattern').fill(String.raw`PROJ-\d{4}`)
    await choose(page, 'Action', 'block')
    await page.getByRole('button', { name: 'Create guardrail' }).click()

    await choose(page, 'Assign keys', 'tenant')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    await page.getByRole('table', { name: 'Keys with this guardrail' }).getByText('tenant').waitFor()

    const ask = async (input: string, model = 'demo/echo'): Promise<number> => (await gateway.respond({ model, input }, { key })).status
    expect([await ask('hello'), await ask('about PROJ-1234'), await ask('hello', 'demo/reason')]).toEqual([200, 403, 403])
    expect(await named('No secrets')).toMatchObject({
      ignored_models: ['demo/reason', 'demo/tools'],
      content_filters: [{ pattern: String.raw`PROJ-\d{4}`, action: 'block' }],
      allowed_models: null,
      enforce_zdr: null,
    })

    await page.getByRole('button', { name: 'Remove tenant' }).click()
    await page.getByText('No keys yet').waitFor()
    expect(await ask('about PROJ-1234')).toBe(200)
    expect(problems).toEqual([])
  })

  it('sends what was changed, and null for what was emptied', async () => {
    const { id } = await make({ name: 'Spenders', limit_usd: 5, reset_interval: 'daily', allowed_models: ['demo/*'], enforce_zdr: true })
    const { page, problems } = await browser.console(gateway, '/guardrails')
    const bodies: unknown[] = []
    page.on('request', (request) => void (request.method() === 'PATCH' && bodies.push(request.postDataJSON())))
    await open(page, 'Spenders')
    expect(page.url()).toContain(`open=${id}`)
    await page.getByLabel('Limit USD').fill('')
    await page.getByRole('radiogroup', { name: 'Enforce ZDR', exact: true }).getByText('No', { exact: true }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Saved.').waitFor()
    expect(bodies).toEqual([{ enforce_zdr: false, limit_usd: null }])
    expect(await named('Spenders')).toMatchObject({ limit_usd: null, enforce_zdr: false, reset_interval: 'daily', allowed_models: ['demo/*'] })
    expect(problems).toEqual([])
  })

  it('keeps what is typed while somebody else changes the same, and undoes nothing of theirs', async () => {
    const { id } = await make({ name: 'Shared', limit_usd: 5 })
    const { page, problems } = await browser.console(gateway, `/guardrails?open=${id}`)
    await page.getByLabel('Description').fill('typed for a while')
    await gateway.api('PATCH', `/api/v1/guardrails/${id}`, { limit_usd: 7 })
    const read = page.waitForResponse((response) => response.url().endsWith(id))
    await page.evaluate(LOOK_AGAIN)
    await read
    await page.getByRole('table', { name: 'Guardrails' }).getByText('Limit USD: 7').waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('typed for a while')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await named('Shared')).toMatchObject({ description: 'typed for a while', limit_usd: 7 })
    expect(problems).toEqual([])
  })

  it('keeps what is typed while it is saved, and the place it is typed at', async () => {
    const { id } = await make({ name: 'Slow', limit_usd: 5 })
    const { page, problems } = await browser.console(gateway, `/guardrails?open=${id}`)
    let answer = (): void => undefined
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
    await page.route(`**/api/v1/guardrails/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') await mayAnswer
      await route.continue()
    })
    const save = page.getByRole('button', { name: 'Save changes' })
    await page.getByLabel('Name').fill('Slow to save')
    await save.click()
    await page.getByLabel('Limit USD').fill('7')
    await page.getByLabel('Description').pressSequentially('typed mean')
    answer()
    await page.getByRole('table', { name: 'Guardrails' }).getByText('Slow to save').waitFor()
    await expect.poll(() => save.isEnabled()).toBe(true)
    await page.keyboard.type('while')
    expect(await page.getByLabel('Description').inputValue()).toBe('typed meanwhile')
    expect(await page.getByText('Saved.').count()).toBe(0)
    await save.click()
    await page.getByText('Saved.').waitFor()
    expect(await named('Slow to save')).toMatchObject({ description: 'typed meanwhile', limit_usd: 7 })
    expect(problems).toEqual([])
  })

  it('lists those of the workspace it names, and makes new ones there', async () => {
    const answer = await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' })
    const { data: workspace } = (await answer.json()) as { readonly data: { readonly id: string } }
    await make({ name: 'Theirs', workspace_id: workspace.id })
    await make({ name: 'Ours' })
    const { page, problems } = await browser.console(gateway, '/guardrails')
    const table = page.getByRole('table', { name: 'Guardrails' })
    await table.getByText('Ours').waitFor()
    const chosen = page.getByRole('combobox', { name: 'Workspace' })
    await expect.poll(() => chosen.inputValue()).toBe('Default')
    await chosen.click()
    await page.getByRole('option', { name: 'Research' }).click()
    await table.getByText('Theirs').waitFor()
    await table.getByText('Ours').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'New guardrail' }).click()
    await page.getByLabel('Name').fill('Made there')
    await page.getByRole('button', { name: 'Create guardrail' }).click()
    await table.getByText('Made there').waitFor()
    expect(problems).toEqual([])
  })

  it('shows all keys of a guardrail, however many, and takes any of them away', async () => {
    const { id } = await make({ name: 'Many keys' })
    const made = Array.from({ length: 120 }, async (_, n) => {
      const { data } = (await (await gateway.api('POST', '/api/v1/keys', { name: `straw ${n}` })).json()) as {
        readonly data: { readonly hash: string }
      }
      return data.hash
    })
    const hashes = await Promise.all(made)
    for (const from of [0, 60]) {
      await gateway.api('POST', `/api/v1/guardrails/${id}/assignments/keys`, { key_hashes: hashes.slice(from, from + 60) })
    }
    const { page, problems } = await browser.console(gateway, `/guardrails?open=${id}`)
    const table = page.getByRole('table', { name: 'Keys with this guardrail' })
    await page.getByText('The first 100 of 120.').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => table.getByRole('row').count()).toBe(121)
    await table.getByRole('button').last().click()
    await expect.poll(() => table.getByRole('row').count(), { timeout: 15_000 }).toBe(120)
    // None of the assigned keys is offered again.
    await page.getByRole('combobox', { name: 'Assign keys' }).click()
    await page.getByRole('combobox', { name: 'Assign keys' }).fill('straw')
    await expect.poll(() => page.getByRole('option').count()).toBe(1)
    expect(problems).toEqual([])
  })

  it('leads back to the first page from a page beyond the end', async () => {
    await make({ name: 'Left over' })
    const { page, problems } = await browser.console(gateway, '/guardrails?offset=50')
    await page.getByText('This page does not exist.').waitFor()
    await page.getByRole('button', { name: 'Show the first' }).click()
    await page.getByRole('table', { name: 'Guardrails' }).getByText('Left over').waitFor()
    expect(problems).toEqual([])
  })

  it('shows a refusal at the rule it is about', async () => {
    await make({ name: 'Patterns' })
    const { page, problems } = await browser.console(gateway, '/guardrails')
    await open(page, 'Patterns')
    await page.getByRole('button', { name: 'Add to Content filters' }).click()
    await page.getByLabel('Pattern').fill('(')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('region', { name: 'Content filters' }).getByText('invalid regular expression').waitFor()
    await page.getByRole('alert').filter({ hasText: 'Not saved' }).waitFor()
    await page.getByLabel('Name').fill(' ')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('A guardrail needs a name.').waitFor()
    // The form is higher than the window: the focus leads to the field.
    await page.locator('[aria-invalid=true]:focus').waitFor()
    await page.getByLabel('Name').fill('x'.repeat(500))
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('name: Too big').waitFor()
    await page.locator('[aria-invalid=true]:focus').waitFor()
    expect(problems).toEqual([])
  })

  it('deletes one, and empties the default, which stays first', async () => {
    await make({ name: 'Unwanted' })
    const [first] = await list()
    await gateway.api('PATCH', `/api/v1/guardrails/${first!.id}`, { allowed_models: ['demo/*'] })
    const { page, problems } = await browser.console(gateway, '/guardrails')
    await open(page, 'Unwanted')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete “Unwanted”?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('row').filter({ hasText: 'Unwanted' }).waitFor({ state: 'detached' })
    expect(await named('Unwanted')).toBeUndefined()

    const top = page.getByRole('table', { name: 'Guardrails' }).getByRole('row').nth(1)
    await top.getByText('Default', { exact: true }).waitFor()
    await top.click()
    await page.getByText('it applies to every key there').waitFor()
    await page.getByRole('button', { name: 'Remove all rules' }).click()
    await page
      .getByRole('dialog', { name: /^Remove all rules of/ })
      .getByRole('button', { name: 'Remove all rules' })
      .click()
    await top.getByText('demands nothing').waitFor()
    expect((await list())[0]).toMatchObject({ id: first!.id, allowed_models: null })
    expect(problems).toEqual([])
  })
})
