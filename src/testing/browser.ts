import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterEach } from 'vitest'
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
  // Pages of one context share a process.
  '--renderer-process-limit=1',
  // A page lives for two seconds: what is compiled for speed meanwhile, a tenth of all work, is not run often enough to give that back.
  '--js-flags=--no-maglev --no-turbofan',
]
/** What pages leave behind. Scripts stay as they were read. */
const STORED = 'local_storage,indexeddb,cookies,service_workers,cache_storage'

/** Only for what never comes: several of these share two cores with everything else that is tested. */
const PATIENCE_MS = 30_000

export interface PageOptions {
  /** In a context of its own, for what would outlast its test: a false clock is put into all pages of a context. */
  readonly apart?: boolean
}

export interface TestBrowser {
  /** A page of the console of a gateway, signed in: `/keys`. */
  console(gateway: Pick<TestGateway, 'url' | 'managementKey'>, path: string, options?: PageOptions): ReturnType<TestBrowser['open']>
  /**
   * A page that finds nothing of what earlier ones stored: of the context that tests have one after the other, or of one of its own
   * where a test opens several. What it complained about is in `problems`.
   */
  open(url: string, options?: PageOptions): Promise<{ readonly page: Page; readonly problems: readonly string[] }>
}

interface SharedBrowser {
  readonly browser: Browser
  /** The context that tests have one after the other. */
  readonly lasting: BrowserContext
  /** A page nobody looks at: with the last page of a site its process would end, and with it all that was compiled of the console's scripts. */
  readonly keeper: Page
}

/** One for all files of a process: starting it takes as long as a test. It ends with the pipe that it is driven by. */
let shared: Promise<SharedBrowser> | undefined

/** A real Chromium for the tests of this file. */
export function withBrowser(): TestBrowser {
  let isTaken = false
  const further = new Set<BrowserContext>()
  const contextOfTest = async (url: string, { apart = false }: PageOptions): Promise<BrowserContext> => {
    const { browser, lasting } = await (shared ??= launch(url))
    if (!isTaken && !apart) {
      isTaken = true
      return lasting
    }
    const context = await makeContext(browser)
    further.add(context)
    return context
  }
  // A page that was left open goes on asking for what is new, beside all tests that follow.
  afterEach(async () => {
    await Promise.all([...further].map((context) => context.close()))
    further.clear()
    if (shared !== undefined && isTaken) await emptyContext(await shared)
    isTaken = false
  })
  return {
    console({ url, managementKey }, path, options) {
      return this.open(`${url}/console${path}#key=${managementKey}`, options)
    },
    async open(url, options = {}) {
      const page = await (await contextOfTest(url, options)).newPage()
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

const makeContext = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })

async function launch(url: string): Promise<SharedBrowser> {
  // Its own sandbox does not work for root, who runs the tests in containers; all it is shown are pages of ours.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...OFFLINE] })
  const lasting = await makeContext(browser)
  const keeper = await lasting.newPage()
  await keeper.goto(new URL('/healthz', url).href)
  return { browser, lasting, keeper }
}

/** As good as new, but for scripts that are read and a process that is there. */
async function emptyContext({ lasting: context, keeper }: SharedBrowser): Promise<void> {
  const pages = context.pages().filter((page) => page !== keeper)
  for (const page of pages) {
    const { origin } = new URL(page.url())
    if (origin === 'null') continue
    const session = await context.newCDPSession(page)
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: STORED })
  }
  await Promise.all(pages.map((page) => page.close()))
  await context.clearPermissions()
  await context.setOffline(false)
}
