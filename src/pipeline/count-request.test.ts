import { expect, it } from 'vitest'
import type { Owner } from '../core/call.ts'
import type { CallLimits } from '../core/call-limits.ts'
import { NOTHING_SPENT } from '../core/counter.ts'
import { createMemoryCounter } from '../store/shared-state/memory.ts'
import { createCountRequest } from './count-request.ts'

const NOW = 1_700_000_000_000
const owner: Owner = { workspaceId: 'w', keyHash: 'a', keyName: 'key', keyLabel: 'label' }

function counting(limits: CallLimits | undefined) {
  const counter = createMemoryCounter({ load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local' })
  const count = createCountRequest({ counter, limitsOf: () => limits })
  return { counter, count }
}

it('a request beyond the requests per minute of its caller is refused, and takes no place and no budget', async () => {
  const limits: CallLimits = [
    {
      kind: 'key',
      subject: 'key:a',
      revision: 1,
      requestsPerMinute: 2,
      tokensPerMinute: 1,
      maxOpen: 1,
      budgets: [{ interval: 'lifetime', limitUsd: 0 }],
      includeByok: false,
    },
  ]
  const { counter, count } = counting(limits)
  await count(owner, 'req-1', NOW)
  await count(owner, 'req-2', NOW)
  await expect(count(owner, 'req-3', NOW)).rejects.toMatchObject({ errorType: 'rate_limit_exceeded', details: { metadata: { limit: 'requests' } } })
  await count(owner, 'req-4', NOW + 30_000)
  const place = { id: 'gen-1', now: NOW + 30_000, charges: [{ subject: 'key:a', revision: 1, rates: [], maxOpen: 1, budgets: [] }] }
  expect(await counter.reserve(place)).toMatchObject({ ok: true })
})

it('nothing is counted for a caller without a request limit', async () => {
  const { count } = counting(undefined)
  for (let n = 0; n < 100; n++) await count(owner, `req-${n}`, NOW)
})
