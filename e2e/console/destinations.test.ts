import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { answer, ok, startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const BASE = '/api/v1/observability/destinations'
/** Batches wait two seconds to fill. */
const SOON = { timeout: 15_000, interval: 100 }

interface Held {
  readonly [name: string]: unknown
  readonly id: string
  readonly config: { readonly [name: string]: unknown }
}

describe.skipIf(!hasBrowser)('the page of destinations', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let receiver: FakeDestination
  beforeAll(async () => {
    gateway = await startGateway()
    receiver = await startFakeDestination()
  })
  afterAll(async () => {
    await gateway.close()
    await receiver.close()
  })
  afterEach(async () => {
    for (const { id } of await all()) await gateway.api('DELETE', `${BASE}/${id}`)
    receiver.react = () => ok
  })

  const all = async (): Promise<readonly Held[]> => ((await (await gateway.api('GET', BASE)).json()) as { data: readonly Held[] }).data
  const only = async (): Promise<Held> => (await all())[0]!
  const status = async (id: string) =>
    ((await (await gateway.api('GET', `${BASE}/${id}/status`)).json()) as { data: { readonly [name: string]: unknown } }).data
  const ask = (input = 'hi') => gateway.respond({ model: 'demo/echo', input })
  const choose = async (page: Page, from: Locator, option: string | RegExp): Promise<void> => {
    await from.click()
    await page.getByRole('option', { name: option, exact: true }).click()
  }
  const hook = async (more: object = {}): Promise<string> => {
    const response = await gateway.api('POST', BASE, { type: 'webhook', name: 'hook', config: { url: `${receiver.url}/hook` }, ...more })
    return ((await response.json()) as { data: Held }).data.id
  }
  const stateOf = (page: Page): Locator => page.getByRole('dialog')

  it('says what a destination is, makes one by a form, and counts what arrives', async () => {
    const { page, problems } = await browser.console(gateway, '/destinations')
    await page.getByText('No destinations yet').waitFor()
    await page.getByRole('button', { name: 'New destination' }).click()
    const type = page.getByRole('combobox', { name: 'Type' })
    await choose(page, type, 'Webhook')
    // The keyboard goes on from here, and not from the page behind.
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor()
    await type.and(page.locator(':focus')).waitFor({ timeout: 5_000 })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Data team')
    await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/in`)
    await choose(page, page.getByRole('combobox', { name: 'Method' }), 'PUT')
    await page.getByRole('button', { name: 'Add to headers' }).click()
    await page.getByLabel('Headers: name 1').fill('x-token')
    await page.getByLabel('Headers: value 1').fill('the-secret-of-the-team')
    expect(await page.getByLabel('Headers: value 1').getAttribute('type')).toBe('password')
    await page.getByRole('textbox', { name: 'Sampling (%)' }).fill('100')
    await page.getByRole('switch', { name: 'Identity' }).check()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    await choose(page, page.getByRole('combobox', { name: 'Rule 1.1: operator' }), 'starts with')
    await page.getByLabel('Rule 1.1: value').fill('demo/')
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByRole('dialog', { name: 'Data team' }).waitFor()

    const made = await only()
    expect(new URL(page.url()).searchParams.get('destination')).toBe(made.id)
    expect(made).toMatchObject({
      type: 'webhook',
      config: { url: `${receiver.url}/in`, method: 'PUT' },
      sampling_rate: 1,
      broadcast_generation_identity: true,
      broadcast_generation_cost: false,
      filter_rules: { enabled: true, groups: [{ logic: 'and', rules: [{ field: 'model', operator: 'starts_with', value: 'demo/' }] }] },
    })
    await ask()
    await expect.poll(() => receiver.accepted.length, SOON).toBe(1)
    expect(receiver.accepted[0]).toMatchObject({ method: 'PUT', path: '/in', headers: { 'x-token': 'the-secret-of-the-team' } })
    await stateOf(page).getByText('Delivering').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: /Data team.*Webhook.*Delivering.*filtered/ }).waitFor()
    // If the states cannot be read, it says why.
    await page.route('**/status', (route) => route.fulfill({ status: 400, json: { error: { message: 'not now' } } }))
    await page.reload()
    await page.getByRole('alert').getByText('not now').waitFor()
    expect(problems).toEqual([])
  })

  it('shows what is missing, and what the gateway refuses, at the fields', async () => {
    const { page, problems } = await browser.console(gateway, '/destinations?new=')
    await choose(page, page.getByRole('combobox', { name: 'Type' }), 'Webhook')
    await page.getByRole('button', { name: 'Create destination' }).click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    const url = page.getByRole('textbox', { name: 'URL' })
    expect([await name.getAttribute('aria-invalid'), await url.getAttribute('aria-invalid')]).toEqual(['true', 'true'])
    expect(await all()).toEqual([])

    await name.fill('hook')
    await url.fill('ftp://receiver.example.com')
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByText('must be an http or https address without credentials', { exact: true }).waitFor()
    expect([await name.getAttribute('aria-invalid'), await url.getAttribute('aria-invalid')]).toEqual([null, 'true'])
    await url.and(page.locator(':focus')).waitFor()
    expect(problems).toEqual([])
  })

  it('leads to a secret that is missing, and to a header without a name, as to any other field', async () => {
    const { page } = await browser.console(gateway, '/destinations?new=')
    await choose(page, page.getByRole('combobox', { name: 'Type' }), 'Langfuse')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('traces')
    await page.getByRole('button', { name: 'Create destination' }).click()
    const secret = page.getByLabel('Secret key')
    await secret.and(page.locator(':focus')).waitFor()
    expect(await page.getByLabel('Public key').getAttribute('aria-invalid')).toBe('true')
    await secret.fill('sk-lf-1')
    await page.getByLabel('Public key').fill('pk-lf-1')
    expect(await secret.getAttribute('aria-invalid')).toBeNull()
    await page.getByRole('button', { name: 'Add to headers' }).click()
    await page.getByLabel('Headers: value 1').fill('of what?')
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByLabel('Headers: name 1').and(page.locator(':focus')).waitFor()
    await page.getByText('every value needs a name').waitFor()
  })

  it('changes what was changed and nothing else: a secret stays unless typed anew', async () => {
    const id = await hook({ config: { url: `${receiver.url}/hook`, headers: { 'x-token': 'a-secret-that-stays' } }, sampling_rate: 0.5 })
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}&tab=settings`)
    const save = page.getByRole('button', { name: 'Save changes' })
    await save.waitFor()
    expect(await save.isDisabled()).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Sampling (%)' }).inputValue()).toBe('50')
    expect(await page.getByLabel('Headers: value 1').inputValue()).toBe('')
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/moved`)
    await page.getByRole('textbox', { name: 'Sampling (%)' }).fill('100')
    await save.click()
    await page.getByText('Saved. It takes effect within seconds.').waitFor()
    expect((await sent).postDataJSON()).toEqual({ sampling_rate: 1, config: { url: `${receiver.url}/moved` } })

    const before = receiver.accepted.length
    await ask()
    await expect.poll(() => receiver.accepted.length, SOON).toBe(before + 1)
    expect(receiver.accepted.at(-1)).toMatchObject({ path: '/moved', headers: { 'x-token': 'a-secret-that-stays' } })

    await page.getByLabel('Headers: value 1').fill('another-secret-by-now')
    await save.click()
    await expect.poll(async () => (await only()).config['headers'], SOON).toEqual({ 'x-token': 'anot...-now' })
    expect(problems).toEqual([])
  })

  it('keeps what is typed while it is saved, and the place it is typed at', async () => {
    const id = await hook()
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}&tab=settings`)
    let answer = (): void => undefined
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
    await page.route(`**${BASE}/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') await mayAnswer
      await route.continue()
    })
    const save = page.getByRole('button', { name: 'Save changes' })
    const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true })
    await page.getByRole('textbox', { name: 'Sampling (%)' }).fill('50')
    await save.click()
    await name.fill('typed mean')
    answer()
    await expect.poll(() => save.isEnabled()).toBe(true)
    await page.keyboard.type('while')
    expect(await name.inputValue()).toBe('typed meanwhile')
    await save.click()
    await expect.poll(only, SOON).toMatchObject({ name: 'typed meanwhile', sampling_rate: 0.5 })
    expect(problems).toEqual([])
  })

  it('belongs to the workspace that is chosen, and takes the calls of chosen keys of it', async () => {
    const idOf = async (response: Response, name: string): Promise<string> =>
      ((await response.json()) as { data: { [name: string]: string } }).data[name]!
    const workspace = await idOf(await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' }), 'id')
    const hash = await idOf(await gateway.api('POST', '/api/v1/keys', { name: 'Notebook', workspace_id: workspace }), 'hash')
    const { page, problems } = await browser.console(gateway, '/destinations?new=')
    await choose(page, page.getByRole('combobox', { name: 'Type' }), 'Webhook')
    await choose(page, page.getByRole('combobox', { name: 'Workspace', exact: true }), 'Research')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('of research')
    await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/research`)
    await choose(page, page.getByRole('combobox', { name: 'Keys' }), /^Notebook /)
    await page.getByRole('button', { name: 'Create destination' }).click()
    await page.getByRole('dialog', { name: 'of research' }).waitFor()
    const path = `${BASE}?workspace_id=${workspace}`
    const { data } = (await (await gateway.api('GET', path)).json()) as { data: readonly Held[] }
    expect(data).toMatchObject([{ workspace_id: workspace, api_key_hashes: [hash] }])
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: /of research.*Research/ }).waitFor()
    await choose(page, page.getByRole('combobox', { name: 'Show workspace' }), 'Default')
    await page.getByText('No destinations yet').waitFor()
    await choose(page, page.getByRole('combobox', { name: 'Show workspace' }), 'Research')
    await page.getByRole('row', { name: /of research.*Research/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('workspace')).toBe(workspace)
    await gateway.api('DELETE', `${BASE}/${data[0]!.id}`)
    expect(problems).toEqual([])
  })

  it('takes filter rules as JSON, and shows at the rule what is wrong with it', async () => {
    const id = await hook()
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}&tab=settings`)
    await page.getByText('JSON', { exact: true }).click()
    const json = page.getByLabel('Filter as JSON')
    await json.fill('{')
    const save = page.getByRole('button', { name: 'Save changes' })
    await json.fill(
      '{"groups": [{"logic": "or", "rules": [{"field": "model", "operator": "exists"}, {"field": "input", "operator": "regex", "value": "("}]}]}',
    )
    await page.getByText('Rules', { exact: true }).click()
    await save.click()
    await page.getByText(/invalid regular expression/).waitFor()
    const value = page.getByLabel('Rule 1.2: value')
    expect(await value.getAttribute('aria-invalid')).toBe('true')
    await value.fill('urgent')
    await save.click()
    const rules = [
      { field: 'model', operator: 'exists' },
      { field: 'input', operator: 'regex', value: 'urgent' },
    ]
    await expect.poll(async () => (await only())['filter_rules'], SOON).toEqual({ enabled: true, groups: [{ logic: 'or', rules }] })
    expect(problems).toEqual([])
  })

  it('tests the connection and sends a sample, and shows what came of it', async () => {
    const id = await hook()
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}`)
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByText('Connection test: it works').waitFor()
    await page.getByText('send an empty payload').waitFor()
    receiver.react = () => answer(401, {}, 'who are you')
    await page.getByRole('button', { name: 'Send a sample' }).click()
    await page.getByText('Sample delivery: it failed').waitFor()
    await page
      .getByText(/who are you/)
      .first()
      .waitFor()
    expect(problems).toEqual([])
  })

  it('pauses and resumes: what finishes meanwhile waits', async () => {
    const id = await hook()
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Finished calls wait in the queue').waitFor()
    const before = receiver.accepted.length
    await ask()
    await expect.poll(async () => (await status(id))['queued'], SOON).toBe(1)
    await page.getByRole('row', { name: /^Queued 1 / }).waitFor()
    expect(receiver.accepted.length).toBe(before)
    await page.getByRole('button', { name: 'Resume' }).click()
    await expect.poll(() => receiver.accepted.length, SOON).toBe(before + 1)
    await page.getByRole('row', { name: 'Delivered 1', exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  it('replays and deletes dead letters, chosen ones or all', async () => {
    receiver.react = () => answer(400, {}, 'not of this shape')
    const id = await hook()
    for (const input of ['one', 'two', 'three']) await ask(input)
    await expect.poll(async () => (await status(id))['dead'], SOON).toBe(3)
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}&tab=dead`)
    const rows = page.getByRole('table', { name: 'Dead letters' }).getByRole('row')
    await expect.poll(() => rows.count(), SOON).toBe(4)
    expect(await rows.nth(1).innerText()).toContain('not of this shape')

    receiver.react = () => ok
    const before = receiver.accepted.length
    await rows.nth(1).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Replay 1 chosen' }).click()
    await page.getByText('1 queued for delivery.').waitFor()
    await expect.poll(() => receiver.accepted.length, SOON).toBe(before + 1)
    await expect.poll(async () => (await status(id))['dead'], SOON).toBe(2)

    await page.getByRole('button', { name: 'Delete all' }).click()
    await page.getByRole('dialog', { name: 'Delete all dead letters?' }).getByRole('button', { name: 'Delete all' }).click()
    await page.getByText('None. Everything was delivered').waitFor()
    expect(await status(id)).toMatchObject({ dead: 0, delivered: 1 })
    expect(problems).toEqual([])
  })

  it('shows the dead letters that are left when the last page was replayed', async () => {
    receiver.react = () => answer(400, {}, 'not of this shape')
    const id = await hook()
    for (let n = 0; n < 51; n++) await ask(`${n}`)
    await expect.poll(async () => (await status(id))['dead'], SOON).toBe(51)
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}&tab=dead`)
    const rows = page.getByRole('table', { name: 'Dead letters' }).getByRole('row')
    await expect.poll(() => rows.count(), SOON).toBe(51)
    await page.getByRole('button', { name: 'next' }).click()
    await expect.poll(() => rows.count(), SOON).toBe(2)
    receiver.react = () => ok
    await rows.nth(1).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Replay 1 chosen' }).click()
    await page.getByText('1 queued for delivery.').waitFor()
    await expect.poll(() => rows.count(), SOON).toBe(51)
    expect(problems).toEqual([])
  })

  it('deletes a destination once that was confirmed', async () => {
    const id = await hook()
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${id}`)
    await page.getByRole('button', { name: 'Delete destination' }).click()
    const question = page.getByRole('dialog', { name: 'Delete hook?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await all()).toHaveLength(1)
    await page.getByRole('button', { name: 'Delete destination' }).click()
    await question.getByRole('button', { name: 'Delete destination' }).click()
    await page.getByText('No destinations yet').waitFor()
    expect(await all()).toEqual([])
    expect(new URL(page.url()).search).toBe('')
    expect(problems).toEqual([])
  })
})
