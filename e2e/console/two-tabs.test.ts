import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A form in a page that has read nothing since: its window never lost the focus, for example because the other change was made elsewhere. */
describe.skipIf(!hasBrowser)('a change saved while somebody else has changed something beside it', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const make = async (path: string, body: object): Promise<{ readonly [field: string]: unknown }> =>
    ((await (await gateway.api('POST', `/api/v1${path}`, body)).json()) as { data: { [field: string]: unknown } }).data
  const stored = async (path: string): Promise<{ readonly [field: string]: unknown }> =>
    ((await (await gateway.api('GET', `/api/v1${path}`)).json()) as { data: { [field: string]: unknown } }).data
  const changeBeside = async (path: string, body: object): Promise<void> => expect((await gateway.api('PATCH', `/api/v1${path}`, body)).ok).toBe(true)
  const setRequests = async (page: Page, form: string): Promise<void> => {
    await page.getByLabel('Requests per minute').fill('60')
    await page.getByRole('form', { name: form }).getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  it('keeps the other rates of a key', async () => {
    const { hash } = await make('/keys', { name: 'shared', rate_limits: { requests_per_minute: 10, concurrent_requests: 3 } })
    const { page, problems } = await browser.console(gateway, `/keys?key=${String(hash)}`)
    await page.getByLabel('Requests per minute').waitFor()
    await changeBeside(`/keys/${String(hash)}`, { rate_limits: { requests_per_minute: 10, tokens_per_minute: 5_000 } })
    await setRequests(page, 'Edit key')
    expect((await stored(`/keys/${String(hash)}`))['rate_limits']).toEqual({ requests_per_minute: 60, tokens_per_minute: 5_000 })
    expect(problems).toEqual([])
  })

  it('keeps the other rates of a workspace', async () => {
    const { id } = await make('/workspaces', { name: 'Shared', slug: 'shared' })
    const { page, problems } = await browser.console(gateway, `/workspaces?workspace=${String(id)}`)
    await page.getByLabel('Requests per minute').waitFor()
    await changeBeside(`/workspaces/${String(id)}`, { rate_limits: { tokens_per_minute: 5_000 } })
    await setRequests(page, 'Edit workspace')
    expect((await stored(`/workspaces/${String(id)}`))['rate_limits']).toEqual({ requests_per_minute: 60, tokens_per_minute: 5_000 })
    expect(problems).toEqual([])
  })

  it('keeps the other headers of a destination', async () => {
    const { id } = await make('/observability/destinations', { type: 'webhook', name: 'shared', config: { url: 'http://127.0.0.1:9/' } })
    const path = `/observability/destinations/${String(id)}`
    const { page, problems } = await browser.console(gateway, `/destinations?destination=${String(id)}&tab=settings`)
    await page.getByRole('button', { name: 'Add to headers' }).click()
    await changeBeside(path, { config: { headers: { 'x-theirs': 'their-secret-value' } } })
    await page.getByLabel('Headers: name 1').fill('x-mine')
    await page.getByLabel('Headers: value 1').fill('my-secret-value')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Saved.').waitFor()
    const { config } = await stored(path)
    expect(Object.keys((config as { headers: object }).headers).toSorted()).toEqual(['x-mine', 'x-theirs'])
    expect(problems).toEqual([])
  })
})
