import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

interface Key {
  readonly hash: string
  readonly name: string
  readonly disabled: boolean
  readonly [field: string]: unknown
}

describe.skipIf(!hasBrowser)('the keys page', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const keys = async (query = 'include_disabled=true'): Promise<readonly Key[]> =>
    ((await (await gateway.api('GET', `/api/v1/keys?${query}`)).json()) as { data: readonly Key[] }).data
  const create = async (body: object): Promise<{ readonly secret: string; readonly hash: string }> => {
    const answer = (await (await gateway.api('POST', '/api/v1/keys', body)).json()) as { key: string; data: Key }
    return { secret: answer.key, hash: answer.data.hash }
  }
  const call = async (key: string): Promise<number> => (await gateway.respond({ model: 'demo/echo', input: 'hi' }, { key })).status

  it('makes a key that calls models, and shows it once with a command that works', async () => {
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.getByText('begin at midnight UTC').waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('made here')
    // A comma groups digits, as it does wherever the console shows an amount.
    await dialog.getByLabel('Limit in USD').pressSequentially('1,002.5')
    await dialog.getByRole('combobox', { name: 'Resets' }).click()
    await page.getByRole('option', { name: 'every Monday (UTC)' }).click()
    await dialog.getByLabel('Requests per minute').fill('60')
    await dialog.getByLabel('Expires').fill('2031-01-31T12:00')
    await dialog.getByRole('button', { name: 'Create key' }).click()

    const shown = page.getByRole('dialog', { name: 'Your new key' })
    await shown.getByText('will not be shown again').waitFor()
    const secret = (await shown.getByLabel('the new key', { exact: true }).textContent()) ?? ''
    expect(await call(secret)).toBe(200)
    const command = (await shown.getByLabel('a first call', { exact: true }).textContent()) ?? ''
    expect(command).toContain(`curl ${gateway.url}/api/v1/responses`)
    expect(command).toContain(`Bearer ${secret}`)
    expect(command).toContain('"model":"demo/echo"')
    await page.keyboard.press('Escape')
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /made here/ }).waitFor()
    await shown.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create key' }).and(page.locator(':focus')).waitFor({ timeout: 5_000 })
    expect((await page.content()).includes(secret)).toBe(false)
    expect((await keys()).find(({ name }) => name === 'made here')).toMatchObject({
      limit: 1_002.5,
      limit_reset: 'weekly',
      include_byok_in_limit: false,
      rate_limits: { requests_per_minute: 60 },
      expires_at: expect.stringContaining('2031-01-3'),
    })
    expect(problems).toEqual([])
  })

  it('copies the new key where browsers give pages no clipboard, as over plain HTTP', async () => {
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await page.reload()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('copied by hand')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: 'Your new key' })
    const secret = await shown.getByLabel('the new key', { exact: true }).textContent()
    await shown.getByRole('button', { name: 'Copy the new key' }).click()
    await shown.getByText(/^(Copied|Press Ctrl\+C)$/).waitFor()
    expect(await page.evaluate('getSelection().toString()')).toBe(secret)
    expect(problems).toEqual([])
  })

  it('shows a new key though the list of keys does not come', async () => {
    const { page } = await browser.console(gateway, '/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const isList = ({ pathname }: URL): boolean => pathname === '/api/v1/keys'
    await page.route(isList, (route) => (route.request().method() === 'POST' ? route.continue() : undefined))
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('shown at once')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Your new key' }).getByLabel('the new key', { exact: true }).waitFor({ timeout: 15_000 })
  })

  it('shows a new key though its form was left while it was made', async () => {
    const { page, problems } = await browser.console(gateway, '/keys')
    let answer = (): void => undefined
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/v1/keys', async (route) => {
      if (route.request().method() === 'POST') await mayAnswer
      await route.continue()
    })
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('left behind')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    answer()
    await page.getByRole('dialog', { name: 'Your new key' }).getByLabel('the new key', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /left behind/ }).waitFor()
    expect(problems).toEqual([])
  })

  it('lets Escape close the confirmation dialog, and not the new key below it', async () => {
    const { hash } = await create({ name: 'asked about' })
    const { page, problems } = await browser.console(gateway, `/keys?key=${hash}`)
    await page.route(`**/api/v1/keys/${hash}`, (route) => (route.request().method() === 'DELETE' ? undefined : route.continue()))
    await page.getByRole('button', { name: 'Revoke' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke asked about?' })
    await question.getByRole('button', { name: 'Revoke' }).press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement === document.body')).toBe(true)
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await page.getByRole('form', { name: 'Edit key' }).getByLabel('Name').waitFor()
    expect(page.url()).toContain(hash)
    expect(problems).toEqual([])
  })

  it('shows when a key was last used, and finds those that were not used for some time', async () => {
    const { hash, secret } = await create({ name: 'in use' })
    expect(await call(secret)).toBe(200)
    const { hash: idle } = await create({ name: 'long idle' })
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.getByRole('row', { name: /in use.* \d{4}-\d\d-\d\d \d\d:\d\d never/ }).waitFor()
    await page.getByRole('row', { name: /long idle.* never never/ }).waitFor()
    await page.route('**/api/v1/keys?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { data: readonly Key[] }
      await route.fulfill({ json: { data: answer.data.map((key) => (key.hash === idle ? { ...key, created_at: '2020-01-01T00:00:00Z' } : key)) } })
    })
    await page.getByRole('combobox', { name: 'Last used' }).click()
    await page.getByRole('option', { name: 'not for 90 days' }).click()
    await page.getByRole('row', { name: /in use/ }).waitFor({ state: 'detached' })
    await page.goto(`${page.url()}&key=${hash}`)
    await page.getByText('Last used').last().waitFor()
    expect(problems).toEqual([])
  })

  it('rotates a key, shows its new secret once, and ends the earlier one on request', async () => {
    const { hash, secret: first } = await create({ name: 'to rotate' })
    const { page, problems } = await browser.console(gateway, `/keys?key=${hash}`)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog', { name: 'Rotate to rotate?' }).getByRole('button', { name: 'Rotate' }).click()
    const shown = page.getByRole('dialog', { name: 'The new secret of this key' })
    const second = (await shown.getByLabel('the new key', { exact: true }).textContent()) ?? ''
    expect([await call(first), await call(second)]).toEqual([200, 200])
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    // The keyboard goes on in the panel, and not behind it.
    await page.getByRole('dialog', { name: 'Key', exact: true }).and(page.locator(':focus-within')).waitFor({ timeout: 5_000 })
    await page.getByText(/its earlier secret .* works, too/).waitFor()
    expect((await page.content()).includes(second)).toBe(false)
    await page.getByRole('button', { name: 'End now' }).click()
    await page.getByRole('dialog', { name: 'End earlier secrets?' }).getByRole('button', { name: 'End now' }).click()
    await page.getByText(/its earlier secret .* works, too/).waitFor({ state: 'detached' })
    expect([await call(first), await call(second)]).toEqual([401, 200])
    expect(problems).toEqual([])
  })

  it('changes what was changed and nothing else: an emptied limit is none', async () => {
    const { hash } = await create({ name: 'to change', limit: 5, limit_reset: 'daily', rate_limits: { requests_per_minute: 9 } })
    const { page } = await browser.console(gateway, `/keys?key=${hash}`)
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()))
    const form = page.getByRole('form', { name: 'Edit key' })
    const save = form.getByRole('button', { name: 'Save' })
    await form.getByLabel('Name').waitFor()
    expect(await save.isDisabled()).toBe(true)
    await form.getByLabel('Limit in USD').fill('')
    await form.getByLabel('Name').fill('changed')
    await save.click()
    await page.getByRole('row', { name: /changed/ }).waitFor()
    expect(sent).toEqual([{ name: 'changed', limit: null }])
    expect((await keys()).find((key) => key.hash === hash)).toMatchObject({
      name: 'changed',
      limit: null,
      limit_reset: 'daily',
      rate_limits: { requests_per_minute: 9 },
    })
  })

  it('shows a key as expired at the moment it expires, without a reload', async () => {
    const { page } = await browser.console(gateway, '/keys')
    await page.getByRole('table', { name: 'Inference keys' }).waitFor()
    await create({ name: 'short-lived', expires_at: new Date(Date.now() + 8_000).toISOString() })
    // This reloads the list.
    await page.getByLabel('Show disabled').click({ force: true })
    const row = page.getByRole('row', { name: /short-lived/ })
    await row.getByText('active').waitFor()
    await row.getByText('expired').waitFor()
  })

  it('shows a refusal at the field it is about', async () => {
    const { hash } = await create({ name: 'refused' })
    const { page } = await browser.console(gateway, `/keys?key=${hash}`)
    const form = page.getByRole('form', { name: 'Edit key' })
    await form.getByLabel('Requests per minute').fill('0')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText(/rate_limits\.requests_per_minute: /).waitFor()
    expect(await form.getByLabel('Requests per minute').getAttribute('aria-invalid')).toBe('true')
    expect(await form.getByRole('alert').count()).toBe(0)
  })

  it('a limit set here is enforced, and the bar shows that nothing is left', async () => {
    const { hash, secret } = await create({ name: 'to limit' })
    expect(await call(secret)).toBe(200)
    const { page } = await browser.console(gateway, `/keys?key=${hash}`)
    const form = page.getByRole('form', { name: 'Edit key' })
    await form.getByLabel('Limit in USD').fill('0')
    await form.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('row', { name: /to limit/ })
      .getByText('$0 of $0 left')
      .waitFor()
    expect(await call(secret)).toBe(402)
  })

  it('a disabled key calls nothing and is listed on demand, until it is enabled', async () => {
    const { hash, secret } = await create({ name: 'to switch' })
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.getByRole('row', { name: /to switch/ }).click()
    expect(page.url()).toContain(`key=${hash}`)
    const drawer = page.getByRole('dialog', { name: 'Key' })
    await drawer.getByRole('button', { name: 'Disable' }).click()
    await drawer.getByRole('button', { name: 'Enable' }).waitFor()
    expect(await call(secret)).toBe(401)
    await drawer.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: /to switch/ }).waitFor({ state: 'detached' })

    await page.getByLabel('Show disabled').check({ force: true })
    const row = page.getByRole('row', { name: /to switch/ })
    await row.getByText('disabled').waitFor()
    expect(page.url()).toContain('disabled=true')
    await row.focus()
    await page.keyboard.press('Enter')
    await drawer.getByRole('button', { name: 'Enable' }).click()
    await drawer.getByRole('button', { name: 'Disable' }).waitFor()
    expect(await call(secret)).toBe(200)
    expect(problems).toEqual([])
  })

  it('says at once that the gateway is away, and sends nothing later by itself', async () => {
    const { hash } = await create({ name: 'to keep' })
    const { page } = await browser.console(gateway, `/keys?key=${hash}`)
    const drawer = page.getByRole('dialog', { name: 'Key' })
    await drawer.getByRole('button', { name: 'Disable' }).waitFor()
    await page.context().setOffline(true)
    await drawer.getByRole('button', { name: 'Disable' }).click()
    await drawer.getByText('The gateway cannot be reached.').first().waitFor()
    await page.context().setOffline(false)
    await drawer.getByLabel('Name').fill('kept')
    await drawer.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /kept/ }).waitFor()
    expect((await keys()).find((key) => key.hash === hash)).toMatchObject({ name: 'kept', disabled: false })
  })

  it('makes no key without an end where the end was typed by half', async () => {
    const { page } = await browser.console(gateway, '/keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('half an end')
    await dialog.getByLabel('Expires').pressSequentially('01312031')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('Enter a date and a time.').waitFor()
    expect((await keys()).map(({ name }) => name)).not.toContain('half an end')
    await dialog.getByLabel('Expires').fill('2031-01-31T12:00')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect((await keys()).find(({ name }) => name === 'half an end')).toMatchObject({ expires_at: expect.stringContaining('2031-01-3') })
  })

  it('extends a key that has expired', async () => {
    const { hash, secret } = await create({ name: 'to extend', expires_at: new Date(Date.now() + 500).toISOString() })
    await expect.poll(() => call(secret), { timeout: 10_000 }).toBe(401)
    const { page } = await browser.console(gateway, `/keys?key=${hash}`)
    const row = page.getByRole('row', { name: /to extend/ })
    await row.getByText('expired').waitFor()
    const form = page.getByRole('form', { name: 'Edit key' })
    await form.getByLabel('Expires').fill('2031-01-31T12:00')
    await form.getByRole('button', { name: 'Save' }).click()
    await row.getByText('active').waitFor()
    expect(await call(secret)).toBe(200)
  })

  it('revokes a key after it asked', async () => {
    const { hash, secret } = await create({ name: 'to revoke' })
    const { page, problems } = await browser.console(gateway, `/keys?key=${hash}`)
    await page.getByRole('button', { name: 'Revoke' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke to revoke?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await call(secret)).toBe(200)
    // The reason for one refusal must not be shown the next time.
    let isAway = true
    await page.route(`**/api/v1/keys/${hash}`, (route) => (isAway && route.request().method() === 'DELETE' ? route.abort() : route.continue()))
    await page.getByRole('button', { name: 'Revoke' }).click()
    await question.getByRole('button', { name: 'Revoke' }).click()
    await question.getByText('The gateway cannot be reached.').waitFor()
    isAway = false
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Revoke' }).click()
    await question.waitFor()
    expect(await question.getByRole('alert').count()).toBe(0)
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Revoke' }).click()
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Revoke' }).click()
    await question.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /to revoke/ }).waitFor({ state: 'detached' })
    expect(await call(secret)).toBe(401)
    expect(page.url()).not.toContain('key=')
    expect(problems).toEqual([])
  })

  it('leads the keyboard to the heading of the page after the opened row was deleted', async () => {
    await create({ name: 'to go' })
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.getByRole('row', { name: /to go/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog', { name: 'Revoke to go?' }).getByRole('button', { name: 'Revoke' }).click()
    await page.locator(':focus', { hasText: /^Keys$/ }).waitFor()
    expect(problems).toEqual([])
  })

  it('closes what lies on top with Escape: a list of choices, then what was opened', async () => {
    const { hash } = await create({ name: 'to close' })
    const { page } = await browser.console(gateway, `/keys?key=${hash}`)
    const drawer = page.getByRole('dialog', { name: 'Key' })
    await drawer.getByRole('combobox', { name: 'Resets' }).click()
    await page.getByRole('option', { name: 'never' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('option', { name: 'never' }).waitFor({ state: 'hidden' })
    expect(await drawer.count()).toBe(1)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('key=')
  })

  it('finds keys by text on every page of the list, with the text in the address', async () => {
    await using more = await manyKeys()
    const { page } = await browser.console(more.gateway, '/keys')
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(101)
    // Nothing is said about keys that were not read yet.
    const second = Promise.withResolvers<undefined>()
    await page.route(/offset=100/, async (route) => {
      await second.promise
      await route.continue()
    })
    await page.getByLabel('Find').fill('nobody')
    await page.getByText('Searching …').waitFor()
    second.resolve(undefined)
    await page.getByText('No key contains “nobody”.').waitFor()
    await page.getByLabel('Find').fill('needle')
    await page.getByRole('row', { name: /needle/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(page.url()).toContain('q=needle')
    await page.reload()
    await page.getByRole('row', { name: /needle/ }).waitFor()
    // All are loaded by now, and yet no more are drawn at once.
    await page.getByLabel('Find').fill('')
    await page.getByText('The first 100 of 121.').waitFor()
    expect(await page.getByRole('row').count()).toBe(101)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(122)
    await page.getByLabel('Find').fill('nowhere')
    await page.getByText('No key contains “nowhere”.').waitFor()
    // A list to choose from draws no more than a hundred at a time, and finds all by text.
    await page.getByRole('link', { name: 'Generations', exact: true }).click()
    const choice = page.getByRole('combobox', { name: 'Key' })
    await choice.fill('straw 119')
    await page.getByRole('option', { name: 'straw 119' }).waitFor()
    await choice.fill('')
    await page.getByRole('option', { name: 'needle' }).waitFor()
    expect(await page.getByRole('option').count()).toBe(100)
  })

  it('lists the keys of the workspace one chooses, and makes them there', async () => {
    const { data } = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' })).json()) as {
      data: { id: string }
    }
    const { page, problems } = await browser.console(gateway, '/keys')
    await page.getByRole('combobox', { name: 'Workspace' }).click()
    await page.getByRole('option', { name: /Research/ }).click()
    await page.getByText('No keys in use in this workspace yet.').waitFor()
    expect(page.url()).toContain(`workspace=${data.id}`)
    await page.getByRole('button', { name: 'Create one' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('of research')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /of research/ }).waitFor()
    expect((await keys(`workspace_id=${data.id}`)).map(({ name }) => name)).toEqual(['of research'])
    expect(problems).toEqual([])
  })

  it('marks the rows of the previous workspace as outdated while those of the next are loading', async () => {
    const { data } = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Slow one', slug: 'slow-one' })).json()) as {
      data: { id: string }
    }
    await create({ name: 'of the first' })
    const { page } = await browser.console(gateway, '/keys')
    await page.getByRole('row', { name: /of the first/ }).waitFor()
    let answer = (): void => undefined
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
    const isOfSlow = ({ pathname, searchParams }: URL): boolean => pathname === '/api/v1/keys' && searchParams.get('workspace_id') === data.id
    await page.route(isOfSlow, async (route) => {
      await mayAnswer
      await route.continue()
    })
    const stale = page.locator('[aria-busy="true"]').filter({ hasText: 'of the first' })
    await page.getByRole('combobox', { name: 'Workspace' }).click()
    await page.getByRole('option', { name: /Slow one/ }).click()
    await stale.waitFor()
    answer()
    await page.getByText('No keys in use in this workspace yet.').waitFor()
    expect(await page.locator('[aria-busy="true"]').count()).toBe(0)
  })

  it('says why no key is created in a workspace of the URL that the management key has no access to', async () => {
    const { data } = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Apart', slug: 'apart' })).json()) as { data: { id: string } }
    const [{ workspace_id: other }] = (await keys()) as readonly [Key]
    const managementKey = (await gateway.app.accounts.create({ name: 'apart', kind: 'management', workspaceId: data.id })).secret.reveal()
    const { page } = await browser.console({ url: gateway.url, managementKey }, `/keys?workspace=${String(other)}`)
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('elsewhere')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('this key belongs to another workspace').waitFor()
  })

  it('shows a management key of another workspace the keys of that one, with nothing to choose', async () => {
    const { data } = (await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Theirs', slug: 'theirs' })).json()) as { data: { id: string } }
    await create({ name: 'of theirs', workspace_id: data.id })
    const managementKey = (await gateway.app.accounts.create({ name: 'manager', kind: 'management', workspaceId: data.id })).secret.reveal()
    const { page, problems } = await browser.console({ url: gateway.url, managementKey }, '/keys')
    await page.getByRole('row', { name: /of theirs/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.getByRole('combobox', { name: 'Workspace' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a key' })
    await dialog.getByLabel('Name').fill('made by them')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /made by them/ }).waitFor()
    expect((await keys(`workspace_id=${data.id}`)).map(({ name }) => name).toSorted()).toEqual(['made by them', 'of theirs'])
    expect(problems).toEqual([])
  })
})

/** A gateway with more keys than the API lists at a time; the wanted key may be on either page. */
async function manyKeys(): Promise<AsyncDisposable & { readonly gateway: TestGateway }> {
  const gateway = await startGateway()
  for (let n = 0; n < 120; n++) await gateway.api('POST', '/api/v1/keys', { name: n === 3 ? 'needle' : `straw ${n}` })
  return { gateway, [Symbol.asyncDispose]: () => gateway.close() }
}
