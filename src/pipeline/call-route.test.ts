import { expect, it } from 'vitest'
import { computeCost } from '../catalog/cost.ts'
import { systemClock } from '../lib/clock.ts'
import { createHealth } from '../router/health.ts'
import { createSticky } from '../router/sticky.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { testCall } from '../testing/plugin-context.ts'
import { planCall } from './call-route.ts'

const cheap = testEndpoint({ tag: 'cheap', pricing: { input: 1, output: 1 } })
const dear = testEndpoint({ tag: 'dear', pricing: { input: 3, output: 3 } })
const options = {
  catalog: () => testCatalog([cheap, dear]),
  defaults: () => ({}),
  costOf: computeCost,
  health: createHealth({ clock: systemClock }),
  sticky: createSticky({ clock: systemClock }),
}

it.each([
  ['first, before the others', {}, ['dear', 'cheap']],
  ['alone, where the caller wants no fallbacks', { allow_fallbacks: false }, ['dear']],
])('plans the endpoint that served one turn of an answer for the next %s', async (_where, provider, tags) => {
  const call = testCall({ request: { model: 'acme/small', input: [{ type: 'message', role: 'user', content: 'hi' }], provider } })
  const { plan } = await planCall(options, { ...call, random: () => 0, preferredEndpoint: dear.id })
  expect(plan.attempts.map(({ endpoint }) => endpoint.tag)).toEqual(tags)
})
