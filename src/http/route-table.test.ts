import { describe, expect, it, vi } from 'vitest'
import { createRouteTable } from './route-table.ts'

const plain = vi.fn()
const named = vi.fn()
const find = createRouteTable(
  new Map([
    ['POST /v1/answers', plain],
    ['POST /v1/models/:model:ask', named],
    ['POST /v1/hosts/:model/ask/twice', named],
  ]),
)

describe('a table of routes', () => {
  it('finds what is written out', () => {
    expect(find('POST', '/v1/answers')).toBe(plain)
  })

  it.each([
    '/v1/models/acme/large:ask',
    '/v1/models/large:nitro:ask',
    '/v1/models/acme%2Flarge:ask',
    '/v1/hosts/acme/large:nitro/ask/twice',
    '/v1/hosts/acme%2Flarge/ask/twice',
  ])('finds %s by its prefix and its suffix', (path) => {
    expect(find('POST', path)).toBe(named)
  })

  it.each([
    ['GET', '/v1/answers'],
    ['GET', '/v1/models/large:ask'],
    ['POST', '/v1/models/:ask'],
    ['POST', '/v1/models:ask'],
    ['POST', '/v1/models/large:tell'],
    ['POST', '/v1/models/large'],
    ['POST', '/v1/hosts/ask/twice'],
    ['POST', '/v1/hosts//ask/twice'],
    ['POST', '/v1/hosts/large/twice'],
  ])('finds nothing for %s %s', (method, path) => {
    expect(find(method, path)).toBeUndefined()
  })
})
