import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, paste, withBrowser } from '../../src/testing/browser.ts'
import { chatText, startFakeUpstream, stream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

interface ProviderKey {
  readonly id: string
  readonly [field: string]: unknown
}

describe.skipIf(!hasBrowser)('the provider keys page', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(chatConfig(['http://127.0.0.1:9', 'http://127.0.0.1:9']))
  })
  afterAll(() => gateway.close())

  const all = async (query = ''): Promise<readonly ProviderKey[]> =>
    ((await (await gateway.api('GET', `/api/v1/byok?limit=100${query}`)).json()) as { data: readonly ProviderKey[] }).data
  const one = async (id: string): Promise<ProviderKey> =>
    ((await (await gateway.api('GET', `/api/v1/byok/${id}`)).json()) as { data: ProviderKey }).data
  const create = async (body: object): Promise<ProviderKey> =>
    ((await (await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-stored-0123456789', ...body })).json()) as { data: ProviderKey })
      .data

  it('adds a key with its restrictions, and never shows the secret again', async () => {
    const made = (await (await gateway.api('POST', '/api/v1/keys', { name: 'team key' })).json()) as { data: { hash: string } }
    const { page, problems } = await browser.console(gateway, '/provider-keys')
    await page.getByText('This workspace has no key of its own').waitFor()
    await page.getByRole('button', { name: 'Add one' }).click()
    const form = page.getByRole('form', { name: 'New provider key' })
    await form.getByRole('combobox', { name: 'Provider' }).click()
    await page.getByRole('option', { name: 'Acme 0' }).click()
    const secret = form.locator('input[type=password]')
    await secret.fill('sk-typed-0123456789')
    await form.getByLabel('Name').fill('our account')
    await form.getByLabel('Only as a fallback').check()
    await form.getByRole('combobox', { name: 'Models' }).fill('acme/*')
    await page.keyboard.press('Enter')
    await form.getByRole('combobox', { name: 'Keys' }).click()
    await page.getByRole('option', { name: /team key/ }).click()
    await page.keyboard.press('Tab')
    await form.getByRole('combobox', { name: 'Users' }).pressSequentially('uid=anna,ou=people')
    await page.keyboard.press('Enter')
    await form.getByRole('combobox', { name: 'Users' }).fill('UID=Anna,ou=people')
    await page.keyboard.press('Enter')
    await form.getByRole('button', { name: 'Add key' }).click()
    await page
      .getByRole('row', { name: /our account/ })
      .getByText('1 model, 1 key, 2 users')
      .waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await page.content()).includes('sk-typed-0123456789')).toBe(false)
    expect(await all()).toMatchObject([
      {
        provider: 'acme',
        name: 'our account',
        is_fallback: true,
        allowed_models: ['acme/*'],
        allowed_api_key_hashes: [made.data.hash],
        allowed_user_ids: ['uid=anna,ou=people', 'UID=Anna,ou=people'],
      },
    ])
    expect(problems).toEqual([])
  })

  it('takes lists that are pasted line by line', async () => {
    const { id } = await create({ name: 'pasted' })
    const { page, problems } = await browser.console(gateway, `/provider-keys?key=${id}`)
    const form = page.getByRole('form', { name: 'Edit provider key' })
    await paste(form.getByRole('combobox', { name: 'Models' }), 'acme/*\r\nother/*, third/*')
    await paste(form.getByRole('combobox', { name: 'Users' }), 'uid=anna,ou=people\nuid=bert,ou=people\r\n\n')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(() => one(id))
      .toMatchObject({ allowed_models: ['acme/*', 'other/*', 'third/*'], allowed_user_ids: ['uid=anna,ou=people', 'uid=bert,ou=people'] })
    expect(problems).toEqual([])
  })

  it('sends the secret only if a new one was typed, and lists that were emptied as null', async () => {
    const { id, label } = await create({ name: 'changing', allowed_models: ['a'], allowed_user_ids: ['u'] })
    const { page } = await browser.console(gateway, `/provider-keys?key=${id}`)
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()))
    const form = page.getByRole('form', { name: 'Edit provider key' })
    await form.getByLabel('Name').fill('changed')
    await form.getByRole('combobox', { name: 'Models' }).focus()
    await page.keyboard.press('Backspace')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /changed/ }).click()
    expect(sent).toEqual([{ name: 'changed', allowed_models: null }])
    expect(await one(id)).toMatchObject({ label, allowed_user_ids: ['u'] })

    await form.locator('input[type=password]').fill('sk-other-9876543210')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(sent[1]).toEqual({ key: 'sk-other-9876543210' })
    expect((await one(id))['label']).not.toBe(label)
  })

  it('shows a refusal at the field it is about', async () => {
    const { id } = await create({ name: 'refused' })
    const { page } = await browser.console(gateway, `/provider-keys?key=${id}`)
    const form = page.getByRole('form', { name: 'Edit provider key' })
    await form.locator('input[type=password]').fill('not ä key')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('key: must be visible ASCII characters').waitFor()
    expect(await form.getByRole('alert').count()).toBe(0)
  })

  it('disables, enables and deletes', async () => {
    const { id } = await create({ name: 'switching' })
    const { page, problems } = await browser.console(gateway, '/provider-keys')
    const row = page.getByRole('row', { name: /switching/ })
    await row.click()
    const drawer = page.getByRole('dialog', { name: 'Provider key' })
    await drawer.getByRole('button', { name: 'Disable' }).click()
    await drawer.getByRole('button', { name: 'Enable' }).waitFor()
    expect((await one(id))['disabled']).toBe(true)
    await drawer.getByRole('button', { name: 'Enable' }).click()
    await drawer.getByRole('button', { name: 'Disable' }).waitFor()
    await drawer.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete switching?' }).getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await all()).some((own) => own.id === id)).toBe(false)
    expect(problems).toEqual([])
  })

  it('lists those of a provider and of a workspace, as the address says', async () => {
    const { data } = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' })).json()) as {
      data: { id: string }
    }
    await create({ name: 'of research', workspace_id: data.id })
    await create({ name: 'at backup', provider: 'backup1' })
    await create({ name: 'at acme' })
    const { page } = await browser.console(gateway, '/provider-keys')
    await page.getByRole('row', { name: /at acme/ }).waitFor()
    await page.getByRole('combobox', { name: 'Provider' }).click()
    await page.getByRole('option', { name: 'Acme 1' }).click()
    await page.getByRole('row', { name: /at acme/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /at backup/ }).waitFor()
    expect(page.url()).toContain('provider=backup1')
    const other = await browser.console(gateway, `/provider-keys?workspace=${data.id}`)
    await other.page.getByRole('row', { name: /of research/ }).waitFor()
    expect(await other.page.getByRole('row').count()).toBe(2)
  })

  it('a key that is added here serves the calls of its workspace', async () => {
    const upstream = await startFakeUpstream(stream(chatText('hello')))
    const served = await startGateway(chatConfig([upstream.url]))
    try {
      const { page } = await browser.console(served, '/provider-keys?provider=acme')
      await page.getByRole('button', { name: 'Add key' }).click()
      const form = page.getByRole('form', { name: 'New provider key' })
      await form.locator('input[type=password]').fill('sk-of-the-team-0123456789')
      await form.getByRole('button', { name: 'Add key' }).click()
      await page.getByRole('table', { name: 'Provider keys' }).waitFor()
      await served.respond({ model: 'acme/small', input: 'hi' })
      expect(upstream.requests.at(-1)?.headers['authorization']).toBe('Bearer sk-of-the-team-0123456789')
    } finally {
      await served.close()
      await upstream.close()
    }
  })
})
