import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { chatText, startFakeUpstream, stream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const A_DAY_MS = 86_400_000
/** Returning to the window on the next day reloads the data. */
const A_DAY_LATER = `Date.now = ((real) => () => real() + ${A_DAY_MS})(Date.now); window.dispatchEvent(new Event("visibilitychange"))`

interface Workspace {
  readonly id: string
  readonly slug: string
  readonly [field: string]: unknown
}

describe.skipIf(!hasBrowser)('the workspaces page', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const read = async <T>(path: string): Promise<T> => (await (await gateway.api('GET', `/api/v1${path}`)).json()) as T
  const workspace = async (id: string): Promise<Workspace> => (await read<{ data: Workspace }>(`/workspaces/${id}`)).data
  const create = async (body: object): Promise<Workspace> =>
    ((await (await gateway.api('POST', '/api/v1/workspaces', body)).json()) as { data: Workspace }).data
  const budgets = async (id: string): Promise<readonly (readonly [string, number])[]> =>
    (await read<{ data: { reset_interval: string | null; limit_usd: number }[] }>(`/workspaces/${id}/budgets`)).data.map(
      ({ reset_interval: reset, limit_usd: limit }) => [reset ?? 'lifetime', limit] as const,
    )

  it('makes a workspace, with a slug after its name', async () => {
    const { page, problems } = await browser.console(gateway, '/workspaces')
    await page.getByRole('row', { name: /default/ }).waitFor()
    await page.getByText('begin at midnight UTC').waitFor()
    await page.getByRole('button', { name: 'Create workspace' }).click()
    const form = page.getByRole('form', { name: 'New workspace' })
    await form.getByLabel('Name').fill('Search Team')
    expect(await form.getByLabel('Slug').inputValue()).toBe('search-team')
    await form.getByLabel('Text model').fill('demo/echo')
    await form.getByRole('combobox', { name: 'Provider order' }).click()
    await page.getByRole('option', { name: /^price/ }).click()
    await form.getByLabel('Store prompts and answers').check()
    await form.getByLabel('Share of sessions to store').fill('25')
    await form.getByLabel('Forward calls to destinations').uncheck()
    await form.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('dialog', { name: 'Workspace', exact: true }).getByText('Search Team').waitFor()
    const made = await workspace('search-team')
    expect(made).toMatchObject({
      name: 'Search Team',
      default_text_model: 'demo/echo',
      default_provider_sort: 'price',
      is_observability_io_logging_enabled: true,
      io_logging_sampling_rate: 0.25,
      is_observability_broadcast_enabled: false,
    })
    expect(page.url()).toContain(`workspace=${made.id}`)
    expect(problems).toEqual([])
  })

  it('draws a hundred of many workspaces, and finds the others by text', async () => {
    const many = await startGateway()
    try {
      await Promise.all(
        Array.from({ length: 120 }, (_, n) =>
          many.api('POST', '/api/v1/workspaces', { name: `Straw ${n}`, slug: n === 77 ? 'needle' : `straw-${n}` }),
        ),
      )
      const { page, problems } = await browser.console(many, '/workspaces')
      await page.getByText('The first 100 of 121.').waitFor()
      expect(await page.getByRole('row').count()).toBe(101)
      await page.getByRole('textbox', { name: 'Find' }).fill('needle')
      await page.getByRole('row', { name: /Straw 77/ }).waitFor()
      expect(await page.getByRole('row').count()).toBe(2)
      await page.getByRole('textbox', { name: 'Find' }).fill('nowhere')
      await page.getByText('No workspace contains “nowhere”.').waitFor()
      expect(problems).toEqual([])
    } finally {
      await many.close()
    }
  })

  it('says at the field why a workspace was refused', async () => {
    await create({ name: 'Taken', slug: 'taken' })
    const { page } = await browser.console(gateway, '/workspaces')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    const form = page.getByRole('form', { name: 'New workspace' })
    await form.getByLabel('Name').fill('Other')
    await form.getByLabel('Slug').fill('taken')
    await form.getByRole('button', { name: 'Create workspace' }).click()
    await form.getByText('slug: another workspace has it already').waitFor()
    await form.locator('[aria-invalid=true]:focus').waitFor()
    expect(await form.getByRole('alert').count()).toBe(0)
  })

  it('sends what was changed and nothing else', async () => {
    const { id } = await create({ name: 'Changing', slug: 'changing', description: 'old', rate_limits: { requests_per_minute: 5 } })
    const { page } = await browser.console(gateway, `/workspaces?workspace=${id}`)
    const sent: unknown[] = []
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()))
    const form = page.getByRole('form', { name: 'Edit workspace' })
    await form.getByLabel('Description').fill('')
    await form.getByLabel('Concurrent requests').fill('3')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const rates = { requests_per_minute: 5, concurrent_requests: 3 }
    expect(sent).toEqual([{ description: null, rate_limits: rates }])
    expect(await workspace(id)).toMatchObject({ name: 'Changing', description: null, rate_limits: rates })
  })

  it('keeps the contents of chosen keys', async () => {
    const { id } = await create({ name: 'Keeping', slug: 'keeping', is_observability_io_logging_enabled: true, io_logging_api_key_ids: [7] })
    const key = (await (await gateway.api('POST', '/api/v1/keys', { name: 'kept key', workspace_id: id })).json()) as { data: { hash: string } }
    const { page, problems } = await browser.console(gateway, `/workspaces?workspace=${id}`)
    const form = page.getByRole('form', { name: 'Edit workspace' })
    await form.getByRole('combobox', { name: 'Only of these keys' }).click()
    await page.getByRole('option', { name: /kept key/ }).click()
    await page.keyboard.press('Tab')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await workspace(id))['io_logging_api_key_ids']).toEqual([7, key.data.hash])
    expect(problems).toEqual([])
  })

  it('sets budgets in an order that the gateway accepts, and says which one was refused', async () => {
    const { id } = await create({ name: 'Spending', slug: 'spending' })
    const { page } = await browser.console(gateway, `/workspaces?workspace=${id}`)
    const form = page.getByRole('form', { name: 'Budgets' })
    const save = form.getByRole('button', { name: 'Save budgets' })
    const saved = async (expected: readonly (readonly [string, number])[]): Promise<void> => {
      await save.click()
      await expect.poll(() => budgets(id), { timeout: 15_000 }).toEqual(expected)
    }
    await form.getByLabel('Per month').fill('10')
    await form.getByLabel('Per day').fill('2')
    await form.getByLabel('Include calls paid with own provider keys').check()
    await saved([
      ['monthly', 10],
      ['daily', 2],
    ])
    expect(await workspace(id)).toMatchObject({ include_byok_in_budgets: true })
    await form.getByLabel('Per month').fill('100')
    await form.getByLabel('Per day').fill('20')
    await saved([
      ['monthly', 100],
      ['daily', 20],
    ])
    await form.getByLabel('Per month').fill('')
    await form.getByLabel('Per week').fill('50')
    await saved([
      ['weekly', 50],
      ['daily', 20],
    ])
    await form.getByLabel('Per day').fill('70')
    await save.click()
    await form.getByText('the daily budget (70 USD) must be less than the weekly budget (50 USD)').waitFor()
    expect(await form.getByLabel('Per day').getAttribute('aria-invalid')).toBe('true')
    expect((await budgets(id)).at(-1)).toEqual(['daily', 20])
  })

  it('stays open after saving while budgets, or newer input, are not saved', async () => {
    const { id } = await create({ name: 'Half saved', slug: 'half-saved' })
    const { page, problems } = await browser.console(gateway, `/workspaces?workspace=${id}`)
    const form = page.getByRole('form', { name: 'Edit workspace' })
    const perDay = page.getByRole('form', { name: 'Budgets' }).getByLabel('Per day')
    const save = form.getByRole('button', { name: 'Save' })
    await perDay.fill('3')
    await form.getByLabel('Description').fill('saved')
    await save.click()
    await expect.poll(async () => (await workspace(id))['description'], { timeout: 15_000 }).toBe('saved')
    await expect.poll(() => save.isDisabled()).toBe(true)
    expect(await perDay.inputValue()).toBe('$3')
    await page.getByRole('button', { name: 'Save budgets' }).click()
    await expect.poll(() => budgets(id), { timeout: 15_000 }).toEqual([['daily', 3]])

    let answer = (): void => undefined
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
    await page.route(`**/api/v1/workspaces/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') await mayAnswer
      await route.continue()
    })
    await form.getByLabel('Description').fill('sent')
    await save.click()
    await form.getByLabel('Description').fill('sent, and more')
    answer()
    await expect.poll(async () => (await workspace(id))['description'], { timeout: 15_000 }).toBe('sent')
    await expect.poll(() => save.isEnabled()).toBe(true)
    expect(await form.getByLabel('Description').inputValue()).toBe('sent, and more')
    await save.click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await workspace(id))['description']).toBe('sent, and more')
    expect(problems).toEqual([])
  })

  it('shows the spending of the current day, also across midnight', async () => {
    const upstream = await startFakeUpstream(stream(chatText('hello')))
    const paid = await startGateway(chatConfig([upstream.url]))
    try {
      await (await paid.respond({ model: 'acme/small', input: 'hi' })).text()
      const { page } = await browser.console(paid, '/workspaces')
      // With many workspaces that report has more rows than the gateway gives.
      await page.route('**/api/v1/activity*', (route) => route.fulfill({ status: 400, json: { error: { message: 'too many rows' } } }))
      await page.reload()
      const today = page
        .getByRole('row', { name: /default/ })
        .getByRole('cell')
        .nth(1)
      await expect.poll(() => today.textContent(), { timeout: 15_000 }).toMatch(/^\$0\.0/)
      await page.getByRole('row', { name: /default/ }).click()
      await page
        .getByRole('form', { name: 'Budgets' })
        .getByText(/^spent \$0\.0/)
        .nth(3)
        .waitFor()
      // The day is that of the gateway, which is in this process.
      const now = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => now() + A_DAY_MS)
      await page.evaluate(A_DAY_LATER)
      await expect.poll(() => today.textContent(), { timeout: 15_000 }).toBe('$0')
    } finally {
      vi.restoreAllMocks()
      await paid.close()
      await upstream.close()
    }
  })

  it('a budget that is set here is enforced', async () => {
    // Nothing listens there: a call is either refused because of its budget, or fails.
    const paid = await startGateway(chatConfig(['http://127.0.0.1:9']))
    try {
      const status = async (): Promise<number> => (await paid.respond({ model: 'acme/small', input: 'hi' })).status
      expect(await status()).toBeGreaterThanOrEqual(500)
      const { page } = await browser.console(paid, '/workspaces')
      await page.getByRole('row', { name: /default/ }).click()
      const form = page.getByRole('form', { name: 'Budgets' })
      await form.getByLabel('Per day').fill('0.0000001')
      await form.getByRole('button', { name: 'Save budgets' }).click()
      await expect.poll(status, { timeout: 15_000 }).toBe(403)
    } finally {
      await paid.close()
    }
  })

  it('deletes a workspace once its slug was typed, with its keys', async () => {
    const { id } = await create({ name: 'Going', slug: 'going' })
    const { key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'goes too', workspace_id: id })).json()) as { key: string }
    const { page, problems } = await browser.console(gateway, `/workspaces?workspace=${id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete Going?' })
    const confirm = question.getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await question.getByLabel('Type going to confirm').fill('going')
    await confirm.click()
    await page.getByRole('row', { name: /Going/ }).waitFor({ state: 'detached' })
    expect((await gateway.api('GET', `/api/v1/workspaces/${id}`)).status).toBe(404)
    expect((await gateway.respond({ model: 'demo/echo', input: 'hi' }, { key })).status).toBe(401)
    expect(problems).toEqual([])
  })

  it('says why the default workspace stays', async () => {
    const { id } = await workspace('default')
    const { page } = await browser.console(gateway, `/workspaces?workspace=${id}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: /^Delete / })
    await question.getByLabel('Type default to confirm').fill('default')
    await question.getByRole('button', { name: 'Delete' }).click()
    await question.getByText('The default workspace cannot be deleted').waitFor()
  })

  it('shows a management key of another workspace its own workspace, and what the key may not do', async () => {
    const { id } = await create({ name: 'Theirs', slug: 'theirs' })
    const managementKey = (await gateway.app.accounts.create({ name: 'their manager', kind: 'management', workspaceId: id })).secret.reveal()
    const { page, problems } = await browser.console({ url: gateway.url, managementKey }, '/workspaces')
    await page.getByRole('row', { name: /theirs/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.getByRole('row', { name: /theirs/ }).click()
    const form = page.getByRole('form', { name: 'Budgets' })
    await form.getByLabel('Per day').fill('3')
    await form.getByRole('button', { name: 'Save budgets' }).click()
    await expect.poll(() => budgets(id), { timeout: 15_000 }).toEqual([['daily', 3]])
    await expect.poll(() => form.getByRole('button', { name: 'Save budgets' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Create workspace' }).click()
    const creation = page.getByRole('form', { name: 'New workspace' })
    await creation.getByLabel('Name').fill('More')
    await creation.getByRole('button', { name: 'Create workspace' }).click()
    await creation.getByText('Only a management key of the default workspace can create workspaces').waitFor()
    expect(problems).toEqual([])
  })
})
