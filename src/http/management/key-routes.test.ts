import { expect, it } from 'vitest'
import type { KeyAccounts } from '../../core/account.ts'
import { DEFAULT_WORKSPACE_ID } from '../../core/store.ts'
import { GatewayError } from '../../core/error.ts'
import { Secret } from '../../lib/secret.ts'
import { sampleKey } from '../../testing/sample-records.ts'
import { createManagementApp } from './app.ts'
import { keyRoutes, type KeyRouteOptions } from './key-routes.ts'

const key = sampleKey('a'.repeat(64))

function appWith(accounts: Partial<KeyAccounts>, spendOf: KeyRouteOptions['spendOf'] = () => Promise.resolve(new Map())) {
  return createManagementApp(
    {
      authenticate: () => ({ owner: { workspaceId: DEFAULT_WORKSPACE_ID, keyHash: 'm' }, key: { kind: 'management' } }) as never,
      onBug: () => undefined,
      newRequestId: () => 'r',
      bodyLimitBytes: 1_000,
    },
    [
      keyRoutes({
        accounts: { get: () => Promise.resolve(key), usesOf: () => Promise.resolve([]), ...accounts } as KeyAccounts,
        spendOf,
        limitsOf: () => undefined,
        bindsName: () => false,
        now: () => Date.now(),
      }),
    ],
  )
}

it('a key that is revoked during a change gets 404, as it would a moment later', async () => {
  const app = appWith({ update: () => Promise.reject(new GatewayError('conflict', 'The key is revoked, so it cannot be changed')) })
  const { statusCode, body } = await app.inject({ method: 'PATCH', url: `/api/v1/keys/${key.hash}`, payload: { name: 'late' } })
  expect([statusCode, JSON.parse(body)]).toMatchObject([404, { error: { message: 'There is no such key' } }])
  await app.close()
})

it('a secret that was made is told, even if the database is away a moment later', async () => {
  let isAway = false
  const made = { key, secret: new Secret('sk-new') }
  const change = async () => {
    isAway = true
    return made
  }
  const app = appWith({ create: change, rotate: change }, async () => {
    if (isAway) throw new GatewayError('provider_overloaded', 'away')
    return new Map()
  })
  for (const url of [`/api/v1/keys/${key.hash}/rotate`, '/api/v1/keys']) {
    isAway = false
    const { body } = await app.inject({ method: 'POST', url, payload: url.endsWith('rotate') ? {} : { name: 'one' } })
    expect(JSON.parse(body)).toMatchObject({ key: 'sk-new', data: { hash: key.hash } })
  }
  await app.close()
})
