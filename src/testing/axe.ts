import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

/** Without its layout and comments: a third of what a page has to read. */
const SOURCE = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Gives a page the accessibility rules as `axe`, once. Evaluated as the tool does, not as a script of the page: its policy forbids those. */
export async function useAxe(page: Page): Promise<void> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(SOURCE)
}
