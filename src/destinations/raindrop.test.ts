import { expect } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { raindrop } from './raindrop.ts'

testDestination(raindrop, {
  config: { writeKey: 'rd-secret-write-key-1', project: 'support' },
  required: ['writeKey'],
  defaults: { baseUrl: 'https://api.raindrop.ai' },
  inspect: ([request]) =>
    expect(request).toMatchObject({
      url: 'https://api.raindrop.ai/v1/traces',
      headers: { authorization: 'Bearer rd-secret-write-key-1', 'x-raindrop-project-id': 'support' },
    }),
})
