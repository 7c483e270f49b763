import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { afterEach } from 'vitest'
import type { TestGateway } from './start-gateway.ts'

/** Debian's paths, the headless shell first: the same engine takes two thirds of the time. `SIGNALBOX_TEST_CHROMIUM` overrides them. */
const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const CHROMIUM = process.env['SIGNALBOX_TEST_CHROMIUM'] ?? PLACES.find((place) => existsSync(place)) ?? ''

/** For `describe.skipIf`: without a browser, suites that need one are reported as skipped. */
export const hasBrowser = existsSync(CHROMIUM)

/** Without these options Chromium requests updates, lists and the time from the network. */
const OFFLINE = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
  '--disable-gpu',
  // One process less to start, and to talk to.
  '--in-process-gpu',
  // Pages of one context share a process.
  '--renderer-process-limit=1',
  // A page lives for two seconds, which does not pay for optimizing compilers: they would take a tenth of all work.
  '--js-flags=--no-maglev --no-turbofan',
]
/** What pages store. Cached scripts are kept. */
const STORED = 'local_storage,indexeddb,cookies,service_workers,cache_storage'

/** Only reached by what never happens: several browsers share two cores with all other tests. */
const PATIENCE_MS = 30_000

export interface PageOptions {
  /** In a context of its own, for settings that would outlast the test: a fake clock applies to all pages of a context. */
  readonly apart?: boolean
}

export interface TestBrowser {
  /** Opens a page of a gateway's console, such as `/keys`, signed in. */
  console(gateway: Pick<TestGateway, 'url' | 'managementKey'>, path: string, options?: PageOptions): ReturnType<TestBrowser['open']>
  /**
   * Opens a page that sees nothing stored by earlier ones: in the context that tests share one after the other, or in one of its own if a test opens
   * several. `problems` lists the errors that the page has logged.
   */
  open(url: string, options?: PageOptions): Promise<{ readonly page: Page; readonly problems: readonly string[] }>
}

interface SharedBrowser {
  readonly browser: Browser
  /** The context that tests use one after the other. */
  readonly lasting: BrowserContext
  /** A page that stays open: with the last page of a site its process would end, and lose all compiled scripts of the console. */
  readonly keeper: Page
}

/** One browser for all test files of a process, because starting it takes as long as a test. It ends with its control pipe. */
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
  // A page left open would go on polling during all following tests.
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
      // The page shows the gateway's errors, and the browser logs them as well.
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text())
      })
      await page.goto(url)
      return { page, problems }
    },
  }
}

/** A sixteenth of the pixels, which nobody sees: painting them took a sixth of all time. Sizes and places are those of the page. */
const makeContext = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ viewport: { width: 1280, height: 900 }, deviceScaleFactor: 0.25, reducedMotion: 'reduce' })

async function launch(url: string): Promise<SharedBrowser> {
  // Chromium's sandbox does not work for root, who runs the tests in containers; the browser only opens our own pages.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...OFFLINE] })
  const lasting = await makeContext(browser)
  const keeper = await lasting.newPage()
  await keeper.goto(new URL('/healthz', url).href)
  return { browser, lasting, keeper }
}

/** As good as a new context, but keeps cached scripts and the running process. */
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

/** Pastes a text with its line breaks, which `fill` leaves out. */
export async function paste(field: Locator, text: string): Promise<void> {
  await field.focus()
  await field.page().evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${JSON.stringify(text)})
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }`)
}
