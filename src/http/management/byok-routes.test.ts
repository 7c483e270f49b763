import { afterAll, expect, it } from 'vitest'
import type { OwnKeyAccounts } from '../../core/account.ts'
import { createManagementApp } from './app.ts'
import { byokRoutes } from './byok-routes.ts'

const created: unknown[] = []
const app = createManagementApp(
  {
    authenticate: () => ({ owner: { workspaceId: 'tenant', keyHash: 'm' }, key: { kind: 'management' } }) as never,
    onBug: () => undefined,
    newRequestId: () => 'r',
    bodyLimitBytes: 1_000,
  },
  [
    byokRoutes({
      ownKeys: { create: (key: unknown) => created.push(key) } as unknown as OwnKeyAccounts,
      providerNamed: (text) => text,
      operatorPays: (provider) => provider === 'acme',
      hasKey: () => Promise.resolve(true),
    }),
  ],
)
afterAll(() => app.close())

it('a key that would never be used is not stored', async () => {
  const answer = await app.inject({ method: 'POST', url: '/api/v1/byok', payload: { provider: 'acme', key: 'k' } })
  expect(answer.statusCode).toBe(400)
  expect(answer.body).toContain('keys of workspaces are not used at')
  expect(created).toEqual([])
})
