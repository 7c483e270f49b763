import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const DAY_MS = 86_400_000

interface Activity {
  readonly data: readonly { readonly requests: number; readonly model: string; readonly date: string }[]
}

/** Calls are counted a moment after they are answered. */
async function counted(gateway: TestGateway, calls: number): Promise<Activity['data']> {
  for (;;) {
    const { data } = (await (await gateway.api('GET', '/api/v1/activity')).json()) as Activity
    if (data.reduce((all, { requests }) => all + requests, 0) >= calls) return data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The control itself is hidden under its label. */
const choose = (page: Page, group: string, label: string) => page.getByRole('radiogroup', { name: group }).getByText(label, { exact: true }).click()
const figure = (page: Page, label: string) => page.getByRole('region', { name: label, exact: true })

describe.skipIf(!hasBrowser)('the overview of a gateway without calls', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  it('shows how to make the first call instead of empty charts, and that it was made', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    const command = page.getByLabel('a first call', { exact: true })
    await page.getByText('"model":"demo/echo"').waitFor()
    expect(await command.textContent()).toContain(`curl -N ${gateway.url}/api/v1/responses`)
    const tryIt = page.getByRole('link', { name: 'Try it in the Playground' })
    await expect.poll(() => tryIt.getAttribute('href'), { timeout: 15_000 }).toBe('/console/playground?model=demo%2Fecho')
    expect(await page.getByRole('figure').count()).toBe(0)
    await figure(page, 'Credits').getByText('No limit').waitFor()
    await figure(page, 'Destinations').getByText('None').waitFor()
    await figure(page, 'Failed calls').getByText('None').waitFor()

    await gateway.respond({ model: 'demo/echo', input: 'hi' })
    await page.getByRole('table', { name: 'Models by share' }).waitFor()
    expect(await figure(page, 'Calls').textContent()).toContain('1today')
    expect(problems).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('the overview', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let upstream: FakeUpstream
  let other: { readonly hash: string; readonly key: string }
  let research: string
  beforeAll(async () => {
    upstream = await startFakeUpstream(stream(chatText('hello')))
    gateway = await startGateway(chatConfig([upstream.url], { limits: { credits: 80 } }))
    research = ((await (await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' })).json()) as { data: { id: string } })
      .data.id
    const made = await gateway.api('POST', '/api/v1/keys', { name: 'notebook', workspace_id: research })
    const { data, key } = (await made.json()) as { readonly data: { readonly hash: string }; readonly key: string }
    other = { hash: data.hash, key }
    await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-own-0123456789', workspace_id: research })
    await gateway.respond({ model: 'demo/echo', input: 'one two three' })
    await gateway.respond({ model: 'demo/echo', input: 'four' })
    await gateway.respond({ model: 'acme/small', input: 'hi' }, { key: other.key })
    await counted(gateway, 3)
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  it('shows what was called today, who answered, and what may still be spent', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    const models = page.getByRole('table', { name: 'Models by share' })
    await models.waitFor()
    expect(await figure(page, 'Calls').textContent()).toContain('3today')
    expect(await models.getByRole('row', { name: 'demo/echo' }).textContent()).toContain('67 %')
    await figure(page, 'Credits').getByText('of $80.00').waitFor()
    await figure(page, 'Workspaces').getByText('2').waitFor()
    await figure(page, 'Keys').getByText('2').waitFor()
    await page.getByText('No calls on 29 of these 30 days.').waitFor()
    await models.getByRole('link', { name: 'acme/small' }).click()
    expect(page.url()).toBe(`${gateway.url}/console/models?model=acme%2Fsmall`)
    expect(problems).toEqual([])
  })

  it('draws the chosen metric, which the URL keeps, and offers it as a table as well', async () => {
    const { page, problems } = await browser.console(gateway, '/?of=tokens')
    await page.getByRole('figure', { name: 'Tokens by day, stacked by model' }).waitFor()
    await choose(page, 'Group by', 'Providers')
    await choose(page, 'Figure', 'Calls')
    const chart = page.getByRole('figure', { name: 'Calls by day, stacked by provider' })
    await chart.getByRole('button', { name: 'Show as a table' }).click()
    const rows = await chart.getByRole('row').allTextContents()
    expect(rows).toHaveLength(31)
    expect(rows[0]).toBe('DayDemo (simulated)Acme 0')
    expect(rows[29]).toContain('no calls')
    expect(rows[30]).toMatch(/21$/)
    expect(new URL(page.url()).search).toBe('?by=provider')
    await expect.poll(() => isDrawn(page), { timeout: 15_000 }).toBe(true)
    expect(problems).toEqual([])
  })

  it('counts the calls of one workspace or of one key', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    await page.getByRole('combobox', { name: 'Workspace' }).click()
    await page.getByRole('option', { name: 'Research' }).click()
    await page.getByRole('table', { name: 'Models by share' }).getByRole('row', { name: 'demo/echo' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('workspace')).toBe(research)
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('option', { name: 'notebook' }).waitFor()
    expect(await page.getByRole('option').allTextContents()).toEqual(['notebook'])
    await page.getByRole('option', { name: 'notebook' }).click()
    await page.waitForURL((url) => url.searchParams.get('key') === other.hash)
    await page.reload()
    expect(await figure(page, 'Calls').textContent()).toContain('1today')
    expect(problems).toEqual([])
  })

  it('says where one key made no calls, and leads back to all', async () => {
    const unused = (await (await gateway.api('POST', '/api/v1/keys', { name: 'unused' })).json()) as { readonly data: { readonly hash: string } }
    const empty = await browser.console(gateway, `/?key=${unused.data.hash}`)
    await empty.page.getByText('No calls of this workspace or key').waitFor()
    await empty.page.getByRole('button', { name: 'Show all calls' }).click()
    await empty.page.getByRole('table', { name: 'Models by share' }).waitFor()
    expect(await figure(empty.page, 'Calls').textContent()).toContain('3today')
  })

  it('separates the money of own provider keys from that of the gateway', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    const listPrice = /^\$0\.0000\d+$/
    const spent = figure(page, 'USD spent')
    expect(await spent.getByText('Own provider keys').textContent()).toMatch(/by list price: \$0\.0000\d+ today/)
    expect(await spent.textContent()).toContain('$0today')
    const cells = await page.getByRole('row', { name: 'acme/small' }).getByRole('cell').allTextContents()
    expect([cells[3], cells[4]]).toEqual(['$0', expect.stringMatching(listPrice)])
    await choose(page, 'Figure', 'USD, own keys')
    await page.getByRole('figure', { name: 'USD, own keys by day, stacked by model' }).waitFor()
    expect(await page.getByRole('list', { name: 'Colours' }).getByRole('listitem').allTextContents()).toEqual(['acme/small'])
    await choose(page, 'Figure', 'USD')
    await page.getByText('USD: none in these 30 days.').waitFor()
    expect(problems).toEqual([])
  })

  it('counts failed calls, which the usage report does not contain, and links to them', async () => {
    await gateway.respond({ model: 'demo/error-400', input: 'fails' })
    const failures = async (): Promise<number> => {
      const answer = await gateway.api('GET', '/api/v1/generations?status=failed')
      return ((await answer.json()) as { readonly data: readonly unknown[] }).data.length
    }
    await expect.poll(failures, { timeout: 15_000 }).toBe(1)
    const { page, problems } = await browser.console(gateway, '/')
    await expect.poll(() => figure(page, 'Failed calls').textContent(), { timeout: 15_000 }).toBe('Failed calls1in 24 hours')
    expect(await figure(page, 'Calls').textContent()).toContain('3today')
    await page.getByRole('link', { name: 'Failed calls: open the page' }).click()
    const found = page.getByRole('table').getByRole('row').filter({ hasText: 'demo/error-400' })
    await found.waitFor()
    expect(await page.getByRole('table').getByText('completed').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('shows the error message of the gateway where it refuses a filter', async () => {
    const { page } = await browser.console(gateway, '/?key=nothing')
    await page.getByRole('alert').getByText('There is no such key').waitFor()
  })

  it('compares a day without calls with the days before', async () => {
    const { page } = await browser.console(gateway, '/', { apart: true })
    await page.clock.setFixedTime(Date.now() + DAY_MS)
    await page.reload()
    await page.getByRole('table', { name: 'Models by share' }).waitFor()
    expect(await figure(page, 'Calls').textContent()).toContain('0today')
    expect(await figure(page, 'Calls').textContent()).toContain('0 % of usual')
    await page.getByRole('combobox', { name: 'Day' }).click()
    await page.getByRole('option').first().click()
    await page.getByText('No calls.').waitFor()
    await page.getByRole('combobox', { name: 'Day' }).click()
    await page.getByRole('option').nth(1).click()
    await page.getByRole('table', { name: 'Models by share' }).getByRole('row', { name: 'demo/echo' }).waitFor()
  })

  it('shows one day alone after a click on its bar', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    const canvas = page.locator('canvas')
    await expect.poll(async () => (await canvas.count()) > 0 && (await isDrawn(page)), { timeout: 15_000 }).toBe(true)
    const { width, height } = (await canvas.boundingBox())!
    await canvas.click({ position: { x: width - 12, y: height / 2 } })
    const today = new Date().toISOString().slice(0, 10)
    await page.waitForURL((url) => url.searchParams.get('day') === today)
    await canvas.click({ position: { x: width / 2, y: height / 2 } })
    await page.getByText('No calls.').waitFor()
    expect(problems).toEqual([])
  })
})

/** Whether the canvas contains more than its background. */
function isDrawn(page: Page): Promise<boolean> {
  return page.evaluate(
    `(() => { const c = document.querySelector('canvas'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((byte) => byte !== 0) })()`,
  )
}

describe.skipIf(!hasBrowser)('the overview of a large installation', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let last: string
  beforeAll(async () => {
    gateway = await startGateway()
    await gateway.respond({ model: 'demo/echo', input: 'hi' })
    for (let n = 1; n <= 55; n++) {
      const made = await gateway.api('POST', '/api/v1/workspaces', { name: `Team ${n}`, slug: `team-${n}` })
      last = ((await made.json()) as { data: { id: string } }).data.id
    }
    await gateway.api('POST', '/api/v1/keys', { name: 'notebook', workspace_id: last })
    await counted(gateway, 1)
  })
  afterAll(() => gateway.close())

  it('offers the keys of every workspace that is chosen', async () => {
    const { page, problems } = await browser.console(gateway, `/?workspace=${last}`)
    await expect.poll(() => page.getByRole('combobox', { name: 'Workspace' }).inputValue(), { timeout: 15_000 }).toBe('Team 55')
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('option', { name: 'notebook' }).waitFor()
    expect(problems).toEqual([])
  })

  it('says that there are more workspaces than were counted', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    await page.route('**/api/v1/workspaces?*', async (route) => {
      const { data, ...rest } = (await (await route.fetch()).json()) as { readonly data: readonly object[] }
      const offset = new URL(route.request().url()).searchParams.get('offset')
      await route.fulfill({
        json: { ...rest, data: Array.from({ length: 100 }, (_, n) => ({ ...data[0], id: `${offset} ${n}`, name: `Team ${n}` })) },
      })
    })
    for (const list of ['keys', 'observability/destinations'])
      await page.route(`**/api/v1/${list}?*`, (route) => route.fulfill({ json: { data: [] } }))
    await page.reload()
    await figure(page, 'Workspaces').getByText('1,000 or more').waitFor()
    expect(problems).toEqual([])
  })

  it('says that a workspace has more keys than were counted', async () => {
    const managementKey = (await gateway.app.accounts.create({ name: 'their manager', kind: 'management', workspaceId: last })).secret.reveal()
    const { page, problems } = await browser.console({ url: gateway.url, managementKey }, '/')
    await page.route('**/api/v1/keys?*', async (route) => {
      const { data } = (await (await route.fetch()).json()) as { readonly data: readonly object[] }
      const offset = new URL(route.request().url()).searchParams.get('offset')
      await route.fulfill({
        json: { data: Array.from({ length: 100 }, (_, n) => ({ ...data[0], name: `key ${offset} ${n}`, hash: `${offset} ${n}`, disabled: false })) },
      })
    })
    await page.reload()
    await figure(page, 'Keys').getByText('1,000 or more').waitFor()
    expect(problems).toEqual([])
  })
})
