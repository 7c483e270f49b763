import { expect, it } from 'vitest'
import type { KeyAccounts } from '../../core/account.ts'
import { DEFAULT_WORKSPACE_ID } from '../../core/store.ts'
import { GatewayError } from '../../core/error.ts'
import { sampleKey } from '../../testing/sample-records.ts'
import { createManagementApp } from './app.ts'
import { keyRoutes } from './key-routes.ts'

it('a key that is revoked during a change gets 404, as it would a moment later', async () => {
  const key = sampleKey('a'.repeat(64))
  const accounts: Partial<KeyAccounts> = {
    get: () => Promise.resolve(key),
    update: () => Promise.reject(new GatewayError('conflict', 'The key is revoked, so it cannot be changed')),
  }
  const app = createManagementApp(
    {
      authenticate: () => ({ owner: { workspaceId: DEFAULT_WORKSPACE_ID, keyHash: 'm' }, key: { kind: 'management' } }) as never,
      onBug: () => undefined,
      newRequestId: () => 'r',
      bodyLimitBytes: 1_000,
    },
    [
      keyRoutes({
        accounts: accounts as KeyAccounts,
        spendOf: () => Promise.resolve(new Map()),
        limitsOf: () => undefined,
        bindsName: () => false,
        now: () => Date.now(),
      }),
    ],
  )
  const { statusCode, body } = await app.inject({ method: 'PATCH', url: `/api/v1/keys/${key.hash}`, payload: { name: 'late' } })
  expect([statusCode, JSON.parse(body)]).toMatchObject([404, { error: { message: 'There is no such key' } }])
  await app.close()
})
