import { expect } from 'vitest'
import { testDestination } from '../testing/destination-contract.ts'
import { ramp } from './ramp.ts'

testDestination(ramp, {
  config: { apiKey: 'ramp-secret-token-1', baseUrl: 'https://api.ramp.example.com/usage' },
  required: ['apiKey'],
  defaults: { baseUrl: 'https://api.ramp.com/developer/v1/ai-usage/openrouter' },
  inspect: ([request]) => {
    expect(request?.url).toBe('https://api.ramp.example.com/usage')
    expect(request?.headers['authorization']).toBe('Bearer ramp-secret-token-1')
  },
})
