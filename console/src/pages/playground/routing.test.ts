import { expect, it } from 'vitest'
import { routingOf } from './routing.ts'

const endpoint = (provider: string, selected = false) => ({ provider, model: 'a/b', selected })
const attempt = (provider: string, status: number, error_type?: string) => ({
  provider,
  model: 'a/b',
  status,
  ...(error_type === undefined ? {} : { error_type }),
})

it('one endpoint that answered is not notable; the others are shown as not asked', () => {
  const routing = routingOf({ endpoints: { total: 2, available: [endpoint('One', true), endpoint('Two')] }, attempts: [attempt('One', 200)] })
  expect(routing).toMatchObject({ sentence: 'One answered.', served: 'One', isNotable: false, hasUnasked: true })
  expect(routing.endpoints.map(({ fate }) => fate)).toEqual(['answered', 'not asked'])
})

it('a failover says who failed, why, and who stepped in', () => {
  const routing = routingOf({
    endpoints: { total: 2, available: [endpoint('One'), endpoint('Two', true)] },
    attempts: [attempt('One', 503, 'provider_overloaded'), attempt('One', 503, 'provider_overloaded'), attempt('Two', 200)],
  })
  expect(routing).toMatchObject({
    sentence: 'Two answered after 2 failed attempts: One 503 provider_overloaded.',
    isNotable: true,
    hasUnasked: false,
  })
  expect(routing.endpoints.map(({ fate }) => fate)).toEqual(['failed: 503 provider_overloaded', 'answered'])
})

it('a broken answer counts as unfinished, whatever its status was', () => {
  expect(routingOf({ attempts: [attempt('One', 200, 'provider_unavailable')] })).toMatchObject({
    sentence: 'No complete answer; 1 failed attempt: One 200 provider_unavailable.',
    isNotable: true,
  })
})

it('a call whose attempts all failed says that nobody answered', () => {
  expect(routingOf({ attempts: [attempt('One', 429, 'rate_limit_exceeded')] })).toMatchObject({
    sentence: 'No answer; 1 failed attempt: One 429 rate_limit_exceeded.',
    served: undefined,
  })
})

it('a request that no endpoint can serve is shown as not sent', () => {
  const routing = routingOf({ endpoints: { total: 1, available: [endpoint('One')] } })
  expect(routing.sentence).toBe('None of 1 endpoint was called.')
  expect(routingOf({}).sentence).toBe('None of 0 endpoints was called.')
})
