import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const two = (n: number): string => String(n).padStart(2, '0')

/** Sixty models of one vendor, each more expensive than the one before; a second vendor also serves the first one, at another price. */
function config(url: string): { readonly [key: string]: unknown } {
  const provider = (slug: string, name: string) => ({ slug, name, dialect: 'openai-chat', base_url: url, api_keys: ['upstream-key'] })
  const endpoint = (name: string, input: number) => ({
    provider: name,
    upstream_model: 'small-1',
    pricing: { input, output: input * 4, cache_read: 0.075 },
    max_output_tokens: 8192,
  })
  return {
    providers: [provider('acme', 'Acme'), provider('spare', 'Spare')],
    models: Array.from({ length: 60 }, (_, n) => ({
      slug: `acme/m${two(n)}`,
      name: `Model ${two(n)}`,
      context_length: 1_000 * (n + 1),
      endpoints: [endpoint('acme', n + 0.125), ...(n === 0 ? [endpoint('spare', 9)] : [])],
    })),
  }
}

describe.skipIf(!hasBrowser)('the models', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let upstream: FakeUpstream
  /** The models of the configuration and the gateway's own. */
  let all: number
  beforeAll(async () => {
    upstream = await startFakeUpstream(stream(chatText('hello')))
    gateway = await startGateway(config(upstream.url))
    const answer = await gateway.api('GET', '/api/v1/models/count?output_modalities=all')
    all = ((await answer.json()) as { readonly data: { readonly count: number } }).data.count
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  const rows = (page: Page) => page.getByRole('table', { name: 'Models' }).getByRole('row')
  const row = (page: Page, slug: string) => rows(page).filter({ hasText: slug })
  const search = (page: Page): string => new URL(page.url()).search

  it('are listed a page at a time, with context and prices per million tokens', async () => {
    const { page, problems } = await browser.console(gateway, '/models')
    await rows(page).first().waitFor()
    expect(await rows(page).count()).toBe(51)
    expect(await row(page, 'acme/m02').textContent()).toContain('3K$2.125$8.50text')
    await page.getByText(`1 to 50 of ${all} models`).waitFor()
    await page.getByRole('button', { name: 'Page 2' }).click()
    await page.getByText(`51 to ${all} of ${all} models`).waitFor()
    expect(await rows(page).count()).toBe(all - 50 + 1)
    expect(search(page)).toBe('?page=2')
    await page.goBack()
    await page.getByText(`1 to 50 of ${all} models`).waitFor()
    expect(problems).toEqual([])
  })

  it('are searched, filtered and sorted by the gateway, as the address says', async () => {
    const { page, problems } = await browser.console(gateway, '/models?page=2')
    await page.getByRole('textbox', { name: 'Search' }).fill('model 0')
    await page.getByText('1 to 10 of 10 models').waitFor()
    await page.getByRole('combobox', { name: 'Sort' }).click()
    await page.getByRole('option', { name: 'Price, high to low' }).click()
    await rows(page).nth(1).getByText('acme/m09').waitFor()
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByRole('textbox', { name: 'Input price up to' }).fill('5')
    await rows(page).nth(1).getByText('acme/m04').waitFor()
    expect(search(page)).toBe('?q=model+0&sort=pricing-high-to-low&max_price=5')
    expect(problems).toEqual([])
  })

  it('are narrowed as an address says, and are all there again when that is cleared', async () => {
    const { page, problems } = await browser.console(gateway, '/models?q=model+0&sort=pricing-high-to-low&max_price=5')
    await rows(page).nth(1).getByText('acme/m04').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText(`1 to 50 of ${all} models`).waitFor()
    expect(await page.getByRole('textbox', { name: 'Search' }).inputValue()).toBe('')
    await page.getByRole('combobox', { name: 'Provider' }).click()
    await page.getByRole('option', { name: 'Spare' }).click()
    await page.getByText('1 to 1 of 1 models').waitFor()
    expect(search(page)).toBe('?sort=pricing-high-to-low&provider=spare')
    expect(problems).toEqual([])
  })

  it('report an invalid price at the field, and say when no model matches', async () => {
    const { page } = await browser.console(gateway, '/models?max_price=cheap')
    await page.getByText('Enter an amount such as 0.5').waitFor()
    await page.getByRole('textbox', { name: 'Search' }).fill('nobody')
    await page.getByText('No models match these filters.').waitFor()
  })

  it('that lie on a page beyond the last lead back to the first', async () => {
    const { page } = await browser.console(gateway, '/models?page=9')
    await page.getByRole('button', { name: 'Show the first' }).click()
    await page.getByText(`1 to 50 of ${all} models`).waitFor()
  })

  it('open by keyboard and show who serves them, at what price and how well', async () => {
    await (await gateway.respond({ model: 'acme/m00', input: 'hi', provider: { only: ['acme'] } })).text()
    const { page, problems } = await browser.console(gateway, '/models?q=m00')
    await row(page, 'acme/m00').press('Enter')
    const drawer = page.getByRole('dialog', { name: 'acme/m00' })
    await drawer.getByRole('heading', { name: '2 endpoints' }).waitFor()
    expect(search(page)).toBe('?q=m00&model=acme%2Fm00')

    await drawer.getByRole('button', { name: 'Acme' }).click()
    const prices = await drawer.getByRole('table', { name: 'Prices of Acme' }).innerText()
    expect(prices.split(/\s*\n\s*|\t/)).toEqual(['Input', '$0.125 per million', 'Output', '$0.50 per million', 'Cache read', '$0.075 per million'])
    const limits = await drawer.getByRole('table', { name: 'Limits of Acme' }).innerText()
    expect(limits).toContain('1,000 tokens')
    expect(limits).toContain('8,192 tokens')
    expect(await drawer.getByRole('table', { name: 'Uptime of Acme' }).innerText()).toContain('100 % in 5 min')
    expect(await drawer.getByRole('table', { name: 'Measured of Acme' }).innerText()).toMatch(/First token\s+\d+ ms/)
    await drawer.getByRole('button', { name: 'Spare' }).click()
    await drawer.getByText('No measurements').waitFor()

    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    expect(search(page)).toBe('?q=m00')
    expect(problems).toEqual([])
  })

  it('can be opened by URL, copied, and tried in the Playground', async () => {
    const { page, problems } = await browser.console(gateway, '/models?model=demo/echo')
    const drawer = page.getByRole('dialog', { name: 'demo/echo' })
    await drawer.getByRole('heading', { name: 'One endpoint' }).waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await drawer.getByRole('button', { name: 'Copy the slug' }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()'), { timeout: 15_000 }).toBe('demo/echo')
    await drawer.getByRole('link', { name: 'Try it in the Playground' }).click()
    expect(page.url()).toBe(`${gateway.url}/console/playground?model=demo%2Fecho`)
    expect(problems).toEqual([])
  })

  it('for embeddings are listed, too, and are not offered in the Playground', async () => {
    const { page, problems } = await browser.console(gateway, '/models?output=embeddings')
    await page.getByText('1 to 1 of 1 models').waitFor()
    await row(page, 'demo/embed').press('Enter')
    const drawer = page.getByRole('dialog', { name: 'demo/embed' })
    await drawer.getByRole('heading', { name: 'One endpoint' }).waitFor()
    expect(await drawer.getByRole('link', { name: 'Try it in the Playground' }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('that nobody serves show the error message of the gateway', async () => {
    const { page } = await browser.console(gateway, '/models?model=acme/none')
    await page.getByRole('dialog').getByText('No endpoint serves acme/none').waitFor()
  })
})
