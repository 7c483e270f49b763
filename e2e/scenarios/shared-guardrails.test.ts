import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultGuardrailId } from '../../src/accounts/guardrail-snapshot.ts'
import { DEFAULT_WORKSPACE_ID } from '../../src/core/store.ts'
import { findTestPostgres } from '../../src/testing/postgres.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const postgres = await findTestPostgres('guardrails of several gateways on one database')

/** Less than the interval between two checks of the database. */
const AT_ONCE_MS = 1_000

describe.skipIf(!postgres.available)('two gateways on one database', () => {
  let gateways: TestGateway[] = []
  let drop: () => Promise<void>
  beforeAll(async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    drop = () => schema.drop()
    const env = { SIGNALBOX_DATABASE_URL: schema.url.reveal(), SIGNALBOX_SECRET_KEY: randomBytes(32).toString('base64') }
    gateways = [await startGateway({}, env), await startGateway({}, env)]
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close()
    await drop()
  })

  it('see changes of guardrails by the other at once', async () => {
    const [here, there] = gateways as [TestGateway, TestGateway]
    const statusThere = async (): Promise<number> => (await there.respond({ model: 'demo/echo', input: 'hi' })).status
    expect(await statusThere()).toBe(200)
    for (let round = 0; round < 4; round++) {
      for (const [models, allowed] of [
        [['acme/*'], false],
        [null, true],
      ] as const) {
        const change = await here.api('PATCH', `/api/v1/guardrails/${defaultGuardrailId(DEFAULT_WORKSPACE_ID)}`, { allowed_models: models })
        expect(change.status).toBe(200)
        await expect.poll(async () => (await statusThere()) === 200, { timeout: AT_ONCE_MS, interval: 20 }).toBe(allowed)
      }
    }
  })
})
