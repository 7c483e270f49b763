import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

/** Minified: pages then read a third of the text. */
const SOURCE = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * Defines the accessibility checker as `axe` in a page, once. Evaluated by the test tool and not as a script of the page, which the page's policy forbids.
 */
export async function useAxe(page: Page): Promise<void> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(SOURCE)
}
