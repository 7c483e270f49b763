import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, withBrowser } from '../../src/testing/browser.ts'
import { startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'

describe.skipIf(!hasBrowser)('signing in to the console', () => {
  const browser = withBrowser()
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  const atTheDoor = () => browser.open(`${gateway.url}/console/`)

  it('takes a management key, and shows the pages', async () => {
    const { page, problems } = await atTheDoor()
    await page.getByLabel('Management key').fill(TEST_MANAGEMENT_KEY)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('table', { name: 'Inference keys' }).waitFor()
    expect(page.url()).toBe(`${gateway.url}/console/keys`)
    expect(problems).toEqual([])
  })

  it('refuses an inference key and an unknown one, each with its reason', async () => {
    const { page } = await atTheDoor()
    await page.getByLabel('Management key').fill(TEST_KEY)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is an inference key').waitFor()
    await page.getByLabel('Management key').fill('sk-sb-mgmt-v1-unknown')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The gateway does not know this key').waitFor()
    expect(await page.getByRole('link', { name: 'Keys', exact: true }).count()).toBe(0)
  })

  it('reports a key with impossible characters, such as typographic quotes, as invalid and not the gateway as unreachable', async () => {
    const { page } = await atTheDoor()
    await page.getByLabel('Management key').fill(`“${TEST_MANAGEMENT_KEY}”`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The gateway does not know this key').waitFor()
    const followed = await browser.open(`${gateway.url}/console/#key=${TEST_MANAGEMENT_KEY}…`)
    await followed.page.getByText('This key is no longer accepted').waitFor()
  })

  it('takes the key of a printed link, and removes it from the URL', async () => {
    const { page } = await browser.open(`${gateway.url}/console/#key=${TEST_MANAGEMENT_KEY}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).toBe(`${gateway.url}/console/`)
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(TEST_MANAGEMENT_KEY)
  })

  it('takes the key of a link that is followed where a page of the console is open already', async () => {
    const { page } = await atTheDoor()
    await page.getByLabel('Management key').waitFor()
    await page.goto(`${gateway.url}/console/#key=${TEST_MANAGEMENT_KEY}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).toBe(`${gateway.url}/console/`)
  })

  it('keeps the key for the tab alone, or for the browser where its user says so, until he signs out', async () => {
    const { page } = await atTheDoor()
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Management key').fill(TEST_MANAGEMENT_KEY)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
    }
    await signIn()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const elsewhere = await page.context().newPage()
    await elsewhere.goto(`${gateway.url}/console/`)
    await elsewhere.getByLabel('Management key').waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Stay signed in on this computer').check()
    await signIn()
    await elsewhere.reload()
    await elsewhere.getByRole('heading', { name: 'Overview' }).waitFor()

    await elsewhere.getByRole('button', { name: 'Sign out' }).click()
    expect(await elsewhere.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(TEST_MANAGEMENT_KEY)
  })

  it('signing out in one tab signs out in all of them, wherever their key is kept', async () => {
    const { page } = await browser.console(gateway, '/keys')
    const elsewhere = await page.context().newPage()
    await elsewhere.goto(`${gateway.url}/console/workspaces#key=${TEST_MANAGEMENT_KEY}`)
    await elsewhere.getByRole('row', { name: /default/ }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, elsewhere]) {
      await tab.getByLabel('Management key').waitFor()
      expect(await tab.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(TEST_MANAGEMENT_KEY)
    }
    await elsewhere.reload()
    await elsewhere.getByLabel('Management key').waitFor()
  })

  it('shows whoever signs in next nothing of what was looked at before, while who has to sign in again comes back to it', async () => {
    const { page, problems } = await browser.console(gateway, '/keys?q=merger-project')
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Management key').fill(TEST_MANAGEMENT_KEY)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.evaluate('sessionStorage.clear()')
    await page.reload()
    await signIn()
    await page.getByText('No key contains “merger-project”.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Management key').waitFor()
    expect([page.url(), await page.title()]).toEqual([`${gateway.url}/console/keys`, 'Sign in · Signalbox'])
    await signIn()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(await page.getByLabel('Find').inputValue()).toBe('')
    expect(problems).toEqual([])
  })

  it('a link with a key that is not accepted leaves the key that the browser keeps', async () => {
    const { page } = await atTheDoor()
    await page.getByLabel('Management key').fill(TEST_MANAGEMENT_KEY)
    await page.getByLabel('Stay signed in on this computer').check()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const elsewhere = await page.context().newPage()
    elsewhere.once('dialog', (question) => void question.accept())
    await elsewhere.goto(`${gateway.url}/console/#key=sk-sb-mgmt-v1-${'c3'.repeat(24)}`)
    await elsewhere.getByText('This key is no longer accepted').waitFor()
    await elsewhere.reload()
    await elsewhere.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('a link with another key asks before it takes the place of the one in use', async () => {
    const { page } = await browser.console(gateway, '/keys')
    // Until the page shows something it has not accepted the first key, so a second one would not replace anything.
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    const questions: string[] = []
    page.on('dialog', (question) => {
      questions.push(question.message())
      void question.dismiss()
    })
    const link = `${gateway.url}/console/keys#key=sk-sb-mgmt-v1-${'c3'.repeat(24)}`
    await page.goto(link)
    await expect.poll(() => questions).toHaveLength(1)
    expect(questions[0]).toContain('a different key')
    await page.reload()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(page.url()).toBe(`${gateway.url}/console/keys`)
    expect(await page.evaluate('sessionStorage.getItem("signalbox.management_key")')).toBe(TEST_MANAGEMENT_KEY)
    await page.goto(`${gateway.url}/console/keys#key=${TEST_MANAGEMENT_KEY}`)
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(questions).toHaveLength(1)
  })

  it('a key that is no longer accepted leads back to the sign-in page, which says so', async () => {
    const { page } = await browser.open(`${gateway.url}/console/#key=sk-sb-mgmt-v1-${'c3'.repeat(24)}`)
    await page.getByText('This key is no longer accepted').waitFor()
  })
})
