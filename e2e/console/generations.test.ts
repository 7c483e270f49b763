import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const PATIENT = { timeout: 15_000 }

describe.skipIf(!hasBrowser)('generations in the console', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let failing: FakeUpstream
  let serving: FakeUpstream

  beforeAll(async () => {
    failing = await startFakeUpstream(status(404, {}))
    serving = await startFakeUpstream(stream(chatText('from', ' the second')))
    const config = chatConfig([failing.url, serving.url]) as { readonly models: readonly object[] }
    const unpriced = { slug: 'acme/mystery', endpoints: [{ provider: 'backup1', upstream_model: 'mystery-1' }] }
    gateway = await startGateway({ ...config, models: [...config.models, unpriced] })
  })
  afterAll(async () => {
    await gateway.close()
    await failing.close()
    await serving.close()
  })

  it('shows calls as they come, and one in full', async () => {
    const { page, problems } = await browser.console(gateway, '/generations')
    await page.getByText('No calls yet').waitFor()
    await (await gateway.respond({ model: 'demo/echo', input: 'seen at once', session_id: 's-1' })).json()
    const table = page.getByRole('table', { name: 'Generations' })
    await table.getByText('demo/echo').waitFor()
    // All columns fit into a window of 1280 pixels.
    const box = (await table.boundingBox())!
    expect(box.x + box.width).toBeLessThanOrEqual(1260)
    await table.getByText('completed').click()
    const dialog = page.getByRole('dialog', { name: 'Generation' })
    await dialog.getByText('s-1').waitFor()
    expect(new URL(page.url()).searchParams.get('id')).toMatch(/^gen-/)
    await dialog.getByRole('tab', { name: 'Content' }).click()
    await dialog.getByText('The content of this call was not stored').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe('')
    expect(problems).toEqual([])
  })

  it('shows which functions a model called, where what was said is kept', async () => {
    await gateway.api('PATCH', '/api/v1/workspaces/default', { is_observability_io_logging_enabled: true })
    const tools = [{ type: 'function', name: 'lookup', parameters: { type: 'object', properties: { city: { type: 'string' } } } }]
    const response = await gateway.respond({ model: 'demo/tool', input: 'hi', tools })
    await response.json()
    const { page } = await browser.console(gateway, `/generations?id=${response.headers.get('x-generation-id')}`)
    const dialog = page.getByRole('dialog', { name: 'Generation' })
    await dialog.getByRole('tab', { name: 'Content' }).click()
    await dialog.getByText(/^lookup\(\{.*\}\)$/).waitFor()
    expect(await dialog.innerText()).not.toContain('No text.')
    await gateway.api('PATCH', '/api/v1/workspaces/default', { is_observability_io_logging_enabled: false })
  })

  it('shows every attempt of a call that failed over, on the timeline', async () => {
    const response = await gateway.respond({ model: 'acme/small', input: 'please' })
    expect(response.status).toBe(200)
    await response.json()
    const { page } = await browser.console(gateway, '/generations?model=acme/small')
    await page.getByRole('table', { name: 'Generations' }).getByText('acme/small').click()
    const dialog = page.getByRole('dialog', { name: 'Generation' })
    const line = dialog.getByRole('list', { name: 'Timeline' })
    await line.getByText('failed').waitFor()
    expect(await line.getByRole('listitem').count()).toBe(2)
    await dialog.getByRole('tab', { name: 'Attempts (2)' }).click()
    expect(await dialog.getByRole('table', { name: 'Attempt 1' }).innerText()).toContain('404')
    expect(await dialog.getByRole('table', { name: 'Attempt 2' }).innerText()).toContain('200')
  })

  it('shows no cost where no price is known', async () => {
    expect((await gateway.respond({ model: 'acme/mystery', input: 'please' })).status).toBe(200)
    const { page } = await browser.console(gateway, '/generations?model=acme/mystery')
    const row = page.getByRole('table', { name: 'Generations' }).getByRole('row').nth(1)
    await row.getByText('not known').waitFor()
    expect(await row.innerText()).not.toContain('$')
  })

  it('finds what its filters name, and the address says them', async () => {
    await gateway.respond({ model: 'demo/error-429', input: 'no' })
    const { page } = await browser.console(gateway, '/generations')
    const table = page.getByRole('table', { name: 'Generations' })
    await table.getByText('demo/error-429').first().waitFor()
    await page.getByLabel('Status').first().click()
    await page.getByRole('option', { name: 'failed' }).click()
    await expect.poll(() => table.getByText('demo/echo').count(), PATIENT).toBe(0)
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed')
    await page.getByLabel('Model').fill('demo/none')
    await page.getByText('No calls match these filters').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await table.getByText('demo/echo').first().waitFor()
    expect(await page.getByLabel('Model').inputValue()).toBe('')
  })

  it('shows what a model said when it would not answer', async () => {
    await gateway.api('PATCH', '/api/v1/workspaces/default', { is_observability_io_logging_enabled: true })
    const refusal = { ...chatEvents.role(), choices: [{ index: 0, delta: { refusal: 'I will not.' }, finish_reason: null }] }
    serving.script(stream([refusal, chatEvents.finish('stop')]))
    const response = await gateway.respond({ model: 'acme/small', input: 'please' })
    await response.json()
    serving.script(stream(chatText('from', ' the second')))
    const { page } = await browser.console(gateway, `/generations?id=${response.headers.get('x-generation-id')}`)
    const dialog = page.getByRole('dialog', { name: 'Generation' })
    await dialog.getByRole('tab', { name: 'Content' }).click()
    await dialog.getByText('Refused: I will not.').waitFor()
    expect(await dialog.innerText()).not.toContain('No text.')
    await gateway.api('PATCH', '/api/v1/workspaces/default', { is_observability_io_logging_enabled: false })
  })

  it('an unknown id is reported as such', async () => {
    const { page } = await browser.console(gateway, '/generations?id=gen-unknown')
    await page.getByRole('dialog').getByText('There is no generation gen-unknown').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    // The id of a call, as programs and logs have it, leads to the call.
    const known = (await (await gateway.respond({ model: 'demo/reason', input: 'hi' })).json()) as { readonly id: string }
    await page.getByRole('textbox', { name: 'Id', exact: true }).fill(` ${known.id} `)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Generation' }).getByText('Tokens in').waitFor()
    expect(new URL(page.url()).searchParams.get('id')).toBe(known.id)
  })

  it('pages back to the oldest record', async () => {
    for (let call = 0; call < 70; call++) await (await gateway.respond({ model: 'demo/echo', input: `${call}` })).json()
    const { page } = await browser.console(gateway, '/generations?model=demo/echo')
    const rows = page.getByRole('table', { name: 'Generations' }).getByRole('row')
    await expect.poll(() => rows.count(), PATIENT).toBe(51)
    await page.getByRole('button', { name: 'Older' }).click()
    await expect.poll(() => rows.count(), PATIENT).toBe(72)
    expect(await page.getByRole('button', { name: 'Older' }).count()).toBe(0)
    await page.getByLabel('Live (paused while older records are shown)').waitFor({ state: 'attached' })
  })

  it('searches further at every press of the button, until something is found', async () => {
    const { page, problems } = await browser.console(gateway, '/generations')
    const asked: string[] = []
    let isRefused = true
    const [found] = ((await (await gateway.api('GET', '/api/v1/generations?limit=1')).json()) as { readonly data: readonly unknown[] }).data
    // One match after thirty pages without any.
    await page.route('**/api/v1/generations?**error_type=rare**', async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? '0'
      asked.push(cursor)
      if (cursor === '5' && isRefused) await route.fulfill({ status: 400, json: { error: { message: 'not now' } } })
      else
        await route.fulfill({ json: cursor === '30' ? { data: [found], next_cursor: null } : { data: [], next_cursor: String(Number(cursor) + 1) } })
    })
    await page.getByLabel('Error type').fill('rare')
    await page.getByText('not now').waitFor()
    isRefused = false
    const older = page.getByRole('button', { name: 'Older' })
    await older.click()
    await expect.poll(() => asked.at(-1), PATIENT).toBe('16')
    await page.getByText('Nothing found so far').waitFor()
    await older.click()
    await expect.poll(() => asked.at(-1), PATIENT).toBe('28')
    await older.click()
    await page.getByRole('table', { name: 'Generations' }).waitFor()
    expect(await older.count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('goes on showing new calls after an automatic search far back, and again after the user leaves the older records', async () => {
    await (await gateway.respond({ model: 'demo/echo', input: 'hi' })).json()
    const { page } = await browser.console(gateway, '/generations')
    const [one] = ((await (await gateway.api('GET', '/api/v1/generations?limit=1')).json()) as { readonly data: readonly object[] }).data
    const called = (...names: readonly string[]): readonly object[] => names.map((id) => ({ ...one, id, model: id }))
    const enough = called(...Array.from({ length: 20 }, (_, n) => `of-old-${n}`))
    let newest = called()
    // A filter with few matches: the first page, of about a thousand records, contains none.
    await page.route('**/api/v1/generations?**error_type=rare**', (route) => {
      const cursor = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0')
      const data = [newest, enough, called('of-long-ago')][cursor]
      return route.fulfill({ json: { data, next_cursor: cursor === 2 ? null : String(cursor + 1) } })
    })
    await page.getByLabel('Error type').fill('rare')
    await page.getByText('of-old-19').waitFor()
    // The gateway was upgraded meanwhile, and has a state that this page has never heard of.
    newest = called('just-now').map((call) => ({ ...call, status: 'postponed' }))
    await page.getByRole('row', { name: /postponed.*just-now/ }).waitFor()
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText('of-long-ago').waitFor()
    await page.getByRole('switch', { name: 'Live (paused while older records are shown)' }).press(' ')
    await page.getByRole('switch', { name: 'Live', exact: true }).press(' ')
    newest = called('later', 'just-now')
    await page.getByText('later', { exact: true }).waitFor()
    expect(await page.getByText('of-long-ago').count()).toBe(0)
  })

  it('says why there is no list, as long as there is none, and shows it once it comes', async () => {
    await (await gateway.respond({ model: 'demo/echo', input: 'hi' })).json()
    const { page } = await browser.console(gateway, '/keys')
    let asked = 0
    await page.route(/\/api\/v1\/generations(\?|$)/, (route) => {
      asked++
      return route.fulfill({ status: 503, json: { error: { message: 'not now' } } })
    })
    await page.getByRole('link', { name: 'Generations' }).click()
    const said = page.getByRole('alert').filter({ hasText: 'not now' })
    await said.waitFor()
    const element = await said.elementHandle()
    // The first request, two retries in case it was a slip, and then again automatically.
    await expect.poll(() => asked, PATIENT).toBeGreaterThan(3)
    expect(await element.evaluate((alert: { readonly isConnected: boolean }) => alert.isConnected)).toBe(true)
    expect(await page.getByText('No calls yet').count()).toBe(0)
    await page.unrouteAll()
    await page.getByRole('table', { name: 'Generations' }).waitFor()
    await said.waitFor({ state: 'detached' })
  })

  it('shows the calls between two times, in the time zone of the reader, and keeps the times in the URL', async () => {
    await (await gateway.respond({ model: 'demo/echo', input: 'now' })).json()
    const { page } = await browser.console(gateway, '/generations')
    const table = page.getByRole('table', { name: 'Generations' })
    await table.waitFor()
    await page.getByRole('combobox', { name: 'Time' }).click()
    await page.getByRole('option', { name: 'Custom range' }).click()
    await page.getByLabel('To', { exact: true }).fill('2020-01-31T12:00')
    await page.getByText('No calls match these filters').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2020-01-31T11:00')
    const wanted = new Date('2020-01-31T11:00').toISOString()
    await expect.poll(() => new URL(page.url()).searchParams.get('from'), PATIENT).toBe(wanted)
    await page.getByLabel('To', { exact: true }).fill('2999-01-31T12:00')
    await table.waitFor()
    await page.reload()
    await table.waitFor()
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2020-01-31T11:00')
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await page.getByLabel('From', { exact: true }).count()).toBe(0)
  })

  it('leads from a call to all of its session and to its key, and from there to all calls of the key', async () => {
    for (const input of ['one', 'two']) await (await gateway.respond({ model: 'demo/echo', input, session_id: 'a talk' })).json()
    const { page, problems } = await browser.console(gateway, '/generations')
    const rows = page.getByRole('table', { name: 'Generations' }).getByRole('row')
    await rows.nth(1).click()
    await page.getByRole('dialog').getByRole('link', { name: 'a talk' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(() => rows.count(), PATIENT).toBe(3)
    await rows.nth(1).click()
    await page.getByRole('dialog').getByRole('link', { name: 'SIGNALBOX_API_KEY' }).click()
    await page.getByRole('dialog', { name: 'Key' }).getByRole('link', { name: 'Show calls' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(() => rows.count(), PATIENT).toBeGreaterThan(3)
    expect(problems).toEqual([])
  })

  it('gives the focus back to the row that was opened', async () => {
    await (await gateway.respond({ model: 'demo/echo', input: 'by keyboard' })).json()
    const { page } = await browser.console(gateway, '/generations')
    const row = page.getByRole('table', { name: 'Generations' }).getByRole('row').nth(1)
    await row.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Generation' }).getByText('Tokens in').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Generation' }).waitFor({ state: 'detached' })
    await expect.poll(() => row.evaluate((element) => element.matches(':focus'))).toBe(true)
  })

  it('offers the keys of the workspace that is looked at', async () => {
    const answer = await gateway.api('POST', '/api/v1/workspaces', { name: 'Research', slug: 'research' })
    const { data } = (await answer.json()) as { readonly data: { readonly id: string } }
    await gateway.api('POST', '/api/v1/keys', { name: 'of research', workspace_id: data.id })
    const { page, problems } = await browser.console(gateway, `/generations?workspace_id=${data.id}`)
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('option', { name: 'of research' }).waitFor()
    expect(problems).toEqual([])
  })
})
