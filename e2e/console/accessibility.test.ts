import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID } from '../../src/core/store.ts'
import { useAxe } from '../../src/testing/axe.ts'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Rules of WCAG 2.2, levels A and AA. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

interface Finding {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** A page's problems for people who see badly or not at all, or do not use a mouse: one line each. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  // Colours in transition cannot be judged: on a slow machine a transition takes as long as the tool's check.
  await expect.poll(() => page.evaluate(`document.getAnimations().some((one) => one instanceof CSSTransition)`), { timeout: 10_000 }).toBe(false)
  await useAxe(page)
  const found = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )
  return (found as readonly Finding[]).flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.split('\n')[1]?.trim() ?? ''}`),
  )
}

describe.skipIf(!hasBrowser)('the console is for everybody', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  let receiver: FakeDestination
  beforeAll(async () => {
    receiver = await startFakeDestination()
    gateway = await startGateway()
    for (const model of ['demo/echo', 'demo/reason', 'demo/error-429', 'demo/tool']) await (await gateway.respond({ model, input: 'hi' })).text()
    await (await gateway.respond({ model: 'demo/echo', input: 'cut after two of these words', max_output_tokens: 2 })).text()
    await gateway.api('POST', '/api/v1/keys', { name: 'over', expires_at: new Date(Date.now() + 1_000).toISOString() })
    await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit: 5, limit_reset: 'daily' })
    await gateway.api('POST', '/api/v1/workspaces', { name: 'Team', slug: 'team' })
    await gateway.api('POST', '/api/v1/observability/destinations', { type: 'webhook', name: 'hook', config: { url: receiver.url } })
    await gateway.api('POST', '/api/v1/guardrails', { name: 'few models', allowed_models: ['demo/echo'] })
    await gateway.api('POST', '/api/v1/presets', { slug: 'short', system_prompt: 'Be short.' })
  })
  afterAll(async () => {
    await gateway.close()
    await receiver.close()
  })

  const PAGES = ['/', '/generations', '/playground', '/destinations', '/models', '/keys', '/workspaces', '/provider-keys', '/guardrails', '/presets']
  it.each(PAGES)('%s, in light and dark', async (path) => {
    const { page } = await browser.console(gateway, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await faultsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  it.each(['/', '/generations', '/keys'])('%s, before the first answer has arrived', async (path) => {
    const { page } = await browser.console(gateway, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.route('**/api/v1/**', () => undefined)
    await page.reload()
    await page.locator('[aria-busy="true"], [aria-label="Loading"]').first().waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  it('an answer in the playground, and the plan', async () => {
    const { page } = await browser.console(gateway, '/playground?model=demo%2Freason')
    await page.getByLabel('Inference key').fill(gateway.key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByLabel('Message').fill('Why?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Demo (simulated) answered.').waitFor()
    await page.getByLabel('Message').fill('And then?')
    await page.getByRole('button', { name: 'Plan' }).click()
    await page.getByRole('table', { name: 'Endpoints that would be tried' }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    // In a contrast theme, what is chosen still differs from what is not.
    await page.emulateMedia({ forcedColors: 'active' })
    const ground = (selector: string): Promise<unknown> =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`)
    const chosen = ['nav a[data-active]', '.mantine-Switch-input:checked + *', '.mantine-SegmentedControl-control[data-active]']
    const isAsFirst = async (): Promise<boolean[]> => {
      const grounds = await Promise.all([...chosen, 'nav a:not([data-active])'].map(ground))
      return grounds.map((one) => one === grounds[0])
    }
    await expect.poll(isAsFirst).toEqual([true, true, true, false])
    await page.emulateMedia({ forcedColors: null })
  })

  it('an answer that streams, one that failed, and elements under the pointer, in light and dark', async () => {
    const { page } = await browser.console(gateway, '/playground')
    await page.getByLabel('Inference key').fill(gateway.key)
    await page.getByRole('button', { name: 'Use this key' }).click()
    const ask = async (model: string): Promise<void> => {
      await page.getByRole('combobox', { name: 'Model' }).fill(model)
      await page.getByLabel('Message').fill('one two three four five six seven eight nine ten '.repeat(20))
      await page.getByRole('button', { name: 'Send' }).click()
    }
    await ask('demo/error-429')
    await page.getByRole('table', { name: 'Attempts' }).waitFor()
    await ask('demo/slow')
    await page.getByRole('button', { name: 'Stop' }).hover()
    expect(await faultsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Show as a table' }).hover()
    expect(await faultsOf(page)).toEqual([])
  })

  it('every tab of a generation, with words that are longer than it is wide', async () => {
    await gateway.api('PATCH', `/api/v1/workspaces/${DEFAULT_WORKSPACE_ID}`, { is_observability_io_logging_enabled: true })
    const { id } = (await (await gateway.respond({ model: 'demo/echo', input: 'w'.repeat(2_000), user: 'u'.repeat(200) })).json()) as { id: string }
    const { page } = await browser.console(gateway, `/generations?id=${id}`)
    for (const tab of ['Summary', 'Attempts (1)', 'Content', 'Record']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.waitForLoadState('networkidle')
      expect(await faultsOf(page)).toEqual([])
      const code = page.getByRole('tabpanel').locator('pre')
      expect(await code.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length)).toBe(0)
    }
  })

  it('the sign-in page', async () => {
    const { page } = await browser.open(`${gateway.url}/console/`)
    await page.getByLabel('Management key').waitFor()
    expect(await faultsOf(page)).toEqual([])
  })

  it.each([
    ['/generations', 'demo/echo'],
    ['/destinations', 'hook'],
    ['/models', 'demo/echo'],
    ['/keys', 'limited'],
    ['/workspaces', 'Team'],
    ['/guardrails', 'few models'],
    ['/presets', 'short'],
  ])('%s, with one opened by the keyboard', async (path, name) => {
    const { page } = await browser.console(gateway, path)
    const row = page.getByRole('row').filter({ hasText: name }).first()
    await row.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.waitForLoadState('networkidle')
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })
})
