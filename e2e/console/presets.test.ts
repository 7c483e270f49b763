import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

interface Preset {
  readonly slug: string
  readonly status: string
  readonly designated_version: { readonly version: number; readonly system_prompt: string | null; readonly config: object }
  readonly [field: string]: unknown
}

describe.skipIf(!hasBrowser)('the presets page', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const preset = async (slug: string): Promise<Preset> =>
    ((await (await gateway.api('GET', `/api/v1/presets/${slug}`)).json()) as { data: Preset }).data
  const create = async (slug: string, body: object = {}): Promise<void> => {
    const { status } = await gateway.api('POST', '/api/v1/presets', { slug, config: { model: 'demo/echo' }, ...body })
    expect(status).toBe(201)
  }
  const call = async (slug: string): Promise<number> => (await gateway.respond({ model: `@preset/${slug}`, input: 'hi' })).status

  it('makes a preset that requests can name', async () => {
    const { page, problems } = await browser.console(gateway, '/presets')
    await page.getByRole('button', { name: 'Create one' }).click()
    const form = page.getByRole('form', { name: 'New preset' })
    await form.getByLabel('Slug').fill('made-here')
    await form.getByLabel('System prompt').fill('Be brief.')
    await form.getByLabel('Configuration').fill('{ "model": "demo/echo", "temperature": 0.1 }')
    await form.getByRole('button', { name: 'Create preset' }).click()
    const snippet = page.getByLabel('a request with the preset', { exact: true })
    await snippet.waitFor()
    expect(await snippet.textContent()).toContain('"model":"@preset/made-here"')
    expect(page.url()).toContain('preset=made-here')
    expect(await preset('made-here')).toMatchObject({
      name: 'made-here',
      designated_version: { version: 1, system_prompt: 'Be brief.', config: { model: 'demo/echo', temperature: 0.1 } },
    })
    expect(await call('made-here')).toBe(200)
    expect(problems).toEqual([])
  })

  it('shows beside the configuration that it is not JSON, or what the gateway refuses', async () => {
    await create('refused')
    const { page } = await browser.console(gateway, '/presets?preset=refused')
    const form = page.getByRole('form', { name: 'New version' })
    const save = form.getByRole('button', { name: 'Save as a new version' })
    await form.getByLabel('Configuration').fill('{ "temperature": ')
    await form.getByText('This is not valid JSON yet').waitFor()
    expect(await save.isDisabled()).toBe(true)
    await form.getByLabel('Configuration').fill('{ "temperature": "hot" }')
    await save.click()
    await form.getByText(/^temperature/).waitFor()
    expect(await form.getByLabel('Configuration').getAttribute('aria-invalid')).toBe('true')
    await form.getByLabel('Configuration').fill('{ "input": "hi" }')
    await save.click()
    await form.getByText('is nothing a preset can set').waitFor()
    expect(await form.getByRole('alert').count()).toBe(0)
    expect((await preset('refused')).designated_version.version).toBe(1)
  })

  it('saves what was changed as a new version, shows what differs, and lets an earlier one serve again', async () => {
    await create('versioned', { system_prompt: 'first line\nsecond line', config: { model: 'demo/echo', temperature: 0.5 } })
    const { page, problems } = await browser.console(gateway, '/presets?preset=versioned')
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()))
    const form = page.getByRole('form', { name: 'New version' })
    await form.getByLabel('System prompt').fill('first line\nother line')
    await form.getByRole('button', { name: 'Save as a new version' }).click()
    const diff = page.getByLabel('Changes of the system prompt')
    await diff.waitFor()
    expect(((await diff.textContent()) ?? '').trimEnd().split('\n')).toEqual(['  first line', '− second line', '+ other line'])
    expect(sent).toEqual([{ system_prompt: 'first line\nother line' }])
    expect((await preset('versioned')).designated_version).toMatchObject({ version: 2, config: { model: 'demo/echo', temperature: 0.5 } })

    await page.getByRole('button', { name: 'Activate version 1' }).click()
    await page.getByRole('button', { name: 'Activate version 2' }).waitFor()
    expect((await preset('versioned')).designated_version.version).toBe(1)
    expect(await form.getByLabel('System prompt').inputValue()).toBe('first line\nsecond line')
    expect(problems).toEqual([])
  })

  it('keeps what is typed for a new version while another one begins to serve', async () => {
    await create('drafted', { system_prompt: 'one' })
    await gateway.api('PATCH', '/api/v1/presets/drafted', { system_prompt: 'two' })
    const { page, problems } = await browser.console(gateway, '/presets?preset=drafted')
    const form = page.getByRole('form', { name: 'New version' })
    await form.getByLabel('System prompt').fill('a long text')
    await page.getByRole('button', { name: 'Activate version 1' }).click()
    await page.getByRole('button', { name: 'Activate version 2' }).waitFor()
    expect(await form.getByLabel('System prompt').inputValue()).toBe('a long text')
    await form.getByRole('button', { name: 'Save as a new version' }).click()
    await page.getByRole('button', { name: 'Activate version 1' }).waitFor()
    expect((await preset('drafted')).designated_version).toMatchObject({ version: 3, system_prompt: 'a long text' })
    expect(await form.getByRole('button', { name: 'Save as a new version' }).isDisabled()).toBe(true)
    expect(problems).toEqual([])
  })

  it('keeps what is typed for a new version while name and description are saved', async () => {
    await create('described')
    const { page, problems } = await browser.console(gateway, '/presets?preset=described')
    await page.getByRole('form', { name: 'New version' }).getByLabel('System prompt').fill('a long text')
    const form = page.getByRole('form', { name: 'Edit preset' })
    await form.getByLabel('Description').fill('what it is for')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /what it is for/ }).waitFor()
    await expect.poll(() => form.locator('button[data-loading]').count()).toBe(0)
    expect(page.url()).toContain('preset=described')
    expect(await preset('described')).toMatchObject({ description: 'what it is for', designated_version: { version: 1 } })
    expect(await page.getByRole('form', { name: 'New version' }).getByLabel('System prompt').inputValue()).toBe('a long text')
    expect(problems).toEqual([])
  })

  it('keeps the credentials of tools when only the instructions change', async () => {
    const tool = { type: 'mcp', server_label: 'files', server_url: 'https://tools.example/mcp', authorization: 'secret-token' }
    await create('credentials', { config: { model: 'demo/echo', tools: [tool] } })
    const { page } = await browser.console(gateway, '/presets?preset=credentials')
    const form = page.getByRole('form', { name: 'New version' })
    await form.getByLabel('System prompt').fill('anew')
    await form.getByRole('button', { name: 'Save as a new version' }).click()
    await page.getByLabel('Changes of the system prompt').waitFor()
    expect((await preset('credentials')).designated_version).toMatchObject({ version: 2, system_prompt: 'anew' })
    await form.getByLabel('Configuration').fill((await form.getByLabel('Configuration').inputValue()).replace('files', 'others'))
    await form.getByRole('button', { name: 'Save as a new version' }).click()
    await form.getByText('a masked credential cannot be stored').waitFor()
  })

  it('changes name and status: requests cannot use a disabled preset', async () => {
    await create('switched', { description: 'old' })
    expect(await call('switched')).toBe(200)
    const { page } = await browser.console(gateway, '/presets?preset=switched')
    const form = page.getByRole('form', { name: 'Edit preset' })
    await form.getByLabel('Description').fill('')
    await form.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: /^disabled/ }).click()
    await form.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('row', { name: /switched/ })
      .getByText('disabled')
      .waitFor()
    expect(await preset('switched')).toMatchObject({ status: 'disabled', description: null })
    expect(await call('switched')).toBe(404)
  })

  it('closes the panel of a preset when it is archived', async () => {
    await gateway.api('POST', '/api/v1/presets', { slug: 'outworn', config: {} })
    const { page, problems } = await browser.console(gateway, '/presets?preset=outworn')
    const form = page.getByRole('form', { name: 'Edit preset' })
    await form.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: /^archived/ }).click()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Preset' }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /outworn/ }).waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('preset=')
    expect(await page.getByRole('alert').count()).toBe(0)
    expect((await gateway.api('GET', '/api/v1/presets/outworn')).status).toBe(404)
    expect(problems).toEqual([])
  })

  it('deletes a preset after it asked', async () => {
    await create('going', { name: 'Going' })
    const { page, problems } = await browser.console(gateway, '/presets')
    await page.getByRole('row', { name: /Going/ }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete Going?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('row', { name: /Going/ }).waitFor({ state: 'detached' })
    expect((await gateway.api('GET', '/api/v1/presets/going')).status).toBe(404)
    expect(problems).toEqual([])
  })

  it('says that a slug is taken, and shows presets of the workspace one chooses', async () => {
    const answer = await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' })
    const { data } = (await answer.json()) as { data: { id: string } }
    await create('taken', { workspace_id: data.id })
    const { page } = await browser.console(gateway, `/presets?workspace=${data.id}`)
    await page.getByRole('row', { name: /taken/ }).waitFor()
    await page.getByRole('button', { name: 'Create preset' }).click()
    const form = page.getByRole('form', { name: 'New preset' })
    await form.getByLabel('Slug').fill('taken')
    await form.getByRole('button', { name: 'Create preset' }).click()
    await form.getByText('The workspace has a preset "taken" already').waitFor()
  })
})
