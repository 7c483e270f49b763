import { expect, it, vi } from 'vitest'
import { startFakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway } from '../../src/testing/start-gateway.ts'
import { says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

const CANARY = 'canary-of-a-tool-server'

it(verifies('G1', 'the credentials of a tool in the input are stored nowhere'), async () => {
  const upstream = await startFakeUpstream(says('hello'))
  const gateway = await startGateway(chatConfig([upstream.url]))
  try {
    await gateway.api('PATCH', '/api/v1/workspaces/00000000-0000-4000-8000-000000000001', { is_observability_io_logging_enabled: true })
    const mcp = {
      type: 'mcp',
      server_label: 'docs',
      server_url: `https://127.0.0.1/${CANARY}`,
      authorization: CANARY,
      headers: { 'x-key': CANARY },
    }
    const added = { type: 'additional_tools', role: 'developer', tools: [mcp] }
    const response = await gateway.respond({ model: 'acme/small', input: [{ role: 'user', content: 'hi' }, added] })
    expect(response.status).toBe(200)
    const kept = await vi.waitFor(async () => {
      const content = await gateway.api('GET', `/api/v1/generation/content?id=${response.headers.get('x-generation-id')}`)
      expect(content.status).toBe(200)
      return content.text()
    })
    expect(kept).toContain('additional_tools')
    expect(kept).not.toContain(CANARY)
  } finally {
    await gateway.close()
    await upstream.close()
  }
})
