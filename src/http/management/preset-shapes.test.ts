import { expect, it } from 'vitest'
import { hasMask, presentVersion } from './preset-shapes.ts'

const shown = (server_url: string, addresses: boolean) => {
  const config = { tools: [{ type: 'mcp', server_label: 'a', server_url, authorization: 'secret' }] }
  const version = { id: 'v', presetId: 'p', version: 1, creatorId: 'c', createdAt: 0, systemPrompt: null, config }
  return presentVersion(version, addresses).config as unknown as { readonly tools: readonly [{ readonly server_url: string }] }
}

it('shows the path of a tool’s server to its owners only, because some paths are keys', () => {
  expect(shown('https://mcp.test/s/secret/mcp', true).tools[0].server_url).toBe('https://mcp.test/s/secret/mcp')
  for (const address of ['https://mcp.test/s/secret/mcp', 'https://u:secret@mcp.test/s?key=secret']) {
    const config = shown(address, false)
    expect(config.tools[0].server_url).toBe('https://mcp.test/?***')
    expect(JSON.stringify(config)).not.toContain('secret')
    expect(hasMask(config)).toBe(true)
  }
  expect(shown('https://mcp.test/', false).tools[0].server_url).toBe('https://mcp.test/')
})
