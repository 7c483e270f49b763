import { describe, expect, it } from 'vitest'
import { testEndpoint } from '../testing/endpoints.ts'
import { hostedTools } from './hosted-tools.ts'
import { notesOf } from './attempt-notes.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'

const plain = {
  group: { columns: { endpoints: [testEndpoint({})] } },
  index: 0,
  state: 'healthy',
  ownKey: false,
  pinned: false,
  slow: false,
} as unknown as Ranked
const demand = { hosted: [] } as unknown as Demand

describe('the notes of an attempt', () => {
  it('are none for an endpoint in its usual place', () => {
    expect(notesOf(plain, demand, false)).toEqual([])
  })
  it.each([
    [{ ownKey: true }, 'served with your own key'],
    [{ pinned: true }, 'the session is pinned here'],
    [{ slow: true }, 'slower than preferred'],
    [{ state: 'outage' }, 'failed in the last 30 seconds'],
    [{ state: 'benched' }, 'cooling down'],
    [{ state: 'probe' }, 'probes whether it has recovered'],
  ] as const)('say of %o why it is there: %s', (difference, note) => {
    expect(notesOf({ ...plain, ...difference }, demand, false)).toEqual([note])
  })
  it('say that plugins change the request for it', () => {
    expect(notesOf(plain, demand, true)).toEqual(['gets the request as plugins adapt it'])
  })
  it('name the tools that it does not know, and are in one order', () => {
    expect(
      notesOf({ ...plain, ownKey: true, state: 'probe' }, { ...demand, hosted: hostedTools({ tools: [{ type: 'local_shell' }] }) }, true),
    ).toEqual([
      'served with your own key',
      'does not know the tool local_shell',
      'probes whether it has recovered',
      'gets the request as plugins adapt it',
    ])
  })
})
