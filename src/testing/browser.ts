import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { TestGateway } from './start-gateway.ts'

/** Where Debian puts it, without a window first: the same engine in two thirds of the time. `SIGNALBOX_TEST_CHROMIUM` names another. */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const CHROMIUM = process.env['SIGNALBOX_TEST_CHROMIUM'] ?? PLACES.find((place) => existsSync(place)) ?? ''

/** For `describe.skipIf`: suites that need a browser are skipped, and named as skipped, where there is none. */
export const hasBrowser = existsSync(CHROMIUM)

/** Without them Chromium asks the network for updates, lists and time. */
const OFFLINE = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
  '--disable-gpu',
]

/** Only for what never comes: several of these share two cores with everything else that is tested. */
const PATIENCE_MS = 30_000

export interface TestBrowser {
  /** A page of the console of a gateway, signed in: `/keys`. */
  console(gateway: Pick<TestGateway, 'url' | 'managementKey'>, path: string): ReturnType<TestBrowser['open']>
  /** A page of a context of its own: nothing is stored from one test to the next. What it complained about is in `problems`. */
  open(url: string): Promise<{ readonly page: Page; readonly problems: readonly string[] }>
}

/** A real Chromium for the tests of this file. */
export function withBrowser(): TestBrowser {
  let browser: Browser | undefined
  const open = new Set<BrowserContext>()
  beforeAll(async () => {
    // Its own sandbox does not work for root, who runs the tests in containers; all it is shown are pages of ours.
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...OFFLINE] })
  })
  // A page that was left open goes on asking for what is new, beside all tests that follow.
  afterEach(async () => {
    await Promise.all([...open].map((context) => context.close()))
    open.clear()
  })
  afterAll(() => browser?.close())
  return {
    console({ url, managementKey }, path) {
      return this.open(`${url}/console${path}#key=${managementKey}`)
    },
    async open(url) {
      const context = await browser!.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
      open.add(context)
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
      // Refusals of the gateway are shown by the page, and told by the browser as well.
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text())
      })
      await page.goto(url)
      return { page, problems }
    },
  }
}
