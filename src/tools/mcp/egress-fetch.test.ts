import { describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import type { Egress, EgressStreamRequest } from '../../lib/egress.ts'
import { createEgressFetch } from './egress-fetch.ts'

const ORIGIN = 'https://tools.example'

function scene() {
  const asked: EgressStreamRequest[] = []
  const body = (async function* () {})()
  const egress: Pick<Egress, 'open'> = {
    open: (request) => {
      asked.push(request)
      return Promise.resolve({ status: 200, headers: {}, body })
    },
  }
  return { asked, fetch: createEgressFetch({ egress: egress as Egress, origin: ORIGIN, standing: true }) }
}

describe('the way out of a session with a server', () => {
  const init = { method: 'POST', headers: { authorization: 'Bearer secret' }, body: '{}' }

  it('leads to that server, whatever the path', async () => {
    const { asked, fetch } = scene()
    await fetch(`${ORIGIN}/another/path`, init)
    expect(asked).toMatchObject([{ url: `${ORIGIN}/another/path`, headers: { authorization: 'Bearer secret' } }])
  })

  it.each([
    'https://other.example/mcp',
    'http://tools.example/mcp',
    'https://tools.example:8443/mcp',
    'https://tools.example.other.example/mcp',
    'https://tools.example@other.example/mcp',
    'http://127.0.0.1/mcp',
  ])(verifies('E5', 'leads nowhere else, %s: the credential stays where it belongs'), async (url) => {
    const { asked, fetch } = scene()
    await expect(fetch(url, init)).rejects.toThrow('another origin')
    await expect(fetch(new URL(url), init)).rejects.toThrow('another origin')
    expect(asked).toEqual([])
  })
})
