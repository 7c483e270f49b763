import { expect, it } from 'vitest'
import { testEndpoint } from '../testing/endpoints.ts'
import { hostedTools, lacksTool } from './hosted-tools.ts'

const search = { type: 'web_search' }
const lookup = { type: 'function' as const, name: 'f', parameters: null, strict: false }

it('hosted tools are those that not every format has as functions', () => {
  expect(hostedTools({ tools: [lookup, { type: 'gateway:datetime' }] })).toEqual([])
  expect(hostedTools({ tools: [search, lookup] }).map(({ tool }) => tool)).toEqual([search])
})

it('hosted tools are found in time linear in the request', () => {
  const wanted = hostedTools({ tools: [...Array.from({ length: 2_000 }, () => ({ ...search })), lookup, lookup] })
  expect(wanted).toHaveLength(2_000)
  expect(new Set(wanted.map(({ others }) => others)).size).toBe(1)
  expect(wanted[0]!.others).toEqual([lookup])
  const { connection, ...endpoint } = testEndpoint()
  const knowing = {
    ...endpoint,
    connection: { ...connection, dialect: { ...connection.dialect, hosts: ({ type }: { type: string }) => type === 'web_search' } },
  }
  expect(lacksTool(wanted, knowing)).toBe(false)
})
