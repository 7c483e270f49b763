import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createApp, type App } from '../../src/app.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/core/config.ts'
import { silentLogger } from '../../src/lib/logger.ts'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'

/** What a configuration does that is taken over by a gateway that runs. */
let directory: string
let app: App | undefined
let warnings: string[]

beforeEach(async () => {
  warnings = []
  directory = await mkdtemp(join(tmpdir(), 'signalbox-reload-'))
})
afterEach(async () => {
  await app?.close()
  app = undefined
  await rm(directory, { recursive: true, force: true })
})

const env = {
  SIGNALBOX_API_KEY: TEST_KEY,
  SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY,
  SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  SIGNALBOX_PORT: '0',
}

const read = (tree: object): Promise<Config> =>
  loadConfig({ env: { ...env, SIGNALBOX_DATA_DIR: directory }, cwd: directory, read: { file: 'signalbox.json', text: JSON.stringify(tree) } })

async function start(tree: object): Promise<App> {
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) }
  return (app = await createApp({ config: await read(tree), env, logger }))
}

it('says what a configuration names and nobody has, as at the start', async () => {
  const tree = {
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: 'http://127.0.0.1:9/v1/chat/completions', api_keys: null }],
    guardrails: { rules: [{ name: 'one', keys: ['nobody'], enforce_zdr: true }] },
  }
  const expected = [expect.stringMatching(/^the base_url of acme ends with/), 'a guardrail of the configuration names a key that does not exist']
  await (await start({})).reload(await read(tree))
  await expect.poll(() => warnings).toEqual(expected)
  await app!.close()
  warnings = []
  await start(tree)
  expect(warnings).toEqual(expected)
})
