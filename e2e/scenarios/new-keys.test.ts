import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashKey } from '../../src/accounts/api-key.ts'
import type { KeyKind } from '../../src/core/store.ts'
import { createStore } from '../../src/store/index.ts'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { SPEAKERS } from '../../src/testing/scripted-model.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { sampleKey } from '../../src/testing/sample-records.ts'

/** Keys that another process creates: the command line, or another worker on the same database. */
let upstream: FakeUpstream
let gateway: TestGateway
let made = 0

beforeAll(async () => {
  upstream = await startFakeUpstream(SPEAKERS['openai-chat'].speak({ text: ['hello'] }))
  gateway = await startGateway(chatConfig([upstream.url], { server: { wrong_keys_per_minute: 5 } }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function makeElsewhere(kind: KeyKind): Promise<string> {
  const secret = `sk-made-elsewhere-${++made}`
  const store = await createStore({ path: gateway.app.boot.directory.databaseFile })
  try {
    const { id } = await store.workspaces.default()
    await store.keys.insert(sampleKey(hashKey(secret), { name: secret, kind, workspaceId: id }))
  } finally {
    await store.close()
  }
  return secret
}

describe('a key made a moment ago by another process', () => {
  it('is accepted on its first use, for a call', async () => {
    const key = await makeElsewhere('inference')
    expect((await gateway.respond({ model: 'acme/small', input: 'hi' }, { key })).status).toBe(200)
  })

  it('is accepted on its first use, for management', async () => {
    // Longer than the interval between two lookups.
    await new Promise((resolve) => setTimeout(resolve, 150))
    const key = await makeElsewhere('management')
    expect((await gateway.api('GET', '/api/v1/keys', undefined, key)).status).toBe(200)
  })
})
