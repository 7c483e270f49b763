import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const PARTS = /\/console\/assets\/page-[^/]+\.js$/

describe.skipIf(!hasBrowser)('a page of the console that is open while its gateway is upgraded', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  it('says why a part of it is not there, leaves the rest usable, and gets it by loading again', async () => {
    const { page, problems } = await browser.console(gateway, '/')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.route(PARTS, (route) => route.fulfill({ status: 404, body: '{}' }))
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByText('This page could not be loaded').waitFor()
    await page.getByText('upgraded after').waitFor()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.unroute(PARTS)
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(problems.filter((problem) => !problem.includes('upgraded after'))).toEqual([])
  })
})
