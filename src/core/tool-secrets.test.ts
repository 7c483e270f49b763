import { describe, expect, it } from 'vitest'
import { withoutSecrets } from './tool-secrets.ts'

describe('a tool as it may be shown', () => {
  it('has no credentials, and of an address only the origin', () => {
    const shown = withoutSecrets({
      type: 'mcp',
      server_label: 'docs',
      server_url: 'https://docs.example:8443/key-in-path/mcp?token=t',
      authorization: 'a',
      headers: { 'x-key': 'k' },
      api_key: 'k',
      allowed_tools: ['search'],
    })
    expect(shown).toEqual({ type: 'mcp', server_label: 'docs', server_url: 'https://docs.example:8443', allowed_tools: ['search'] })
  })

  it('shows nothing of an address it cannot read', () => {
    expect(withoutSecrets({ type: 'mcp', server_url: 'secret' })).toEqual({ type: 'mcp' })
  })

  it('is the very tool where there is nothing to hide', () => {
    for (const tool of [{ type: 'function', name: 'headers' } as const, { type: 'web_search', filters: {} }]) expect(withoutSecrets(tool)).toBe(tool)
  })

  it('hides them among parameters, too, and in the tools of a tool', () => {
    const parameters = { server_label: 'a', server_url: 'https://mcp.test/key/mcp', authorization: 'secret', headers: { 'x-key': 'secret' } }
    const shown = { server_label: 'a', server_url: 'https://mcp.test' }
    expect(withoutSecrets({ type: 'gateway:mcp', parameters })).toEqual({ type: 'gateway:mcp', parameters: shown })
    const worker = { type: 'gateway:subagent', parameters: { name: 'w', tools: [{ type: 'gateway:mcp', parameters }, { type: 'gateway:datetime' }] } }
    expect(withoutSecrets(worker)).toEqual({
      type: 'gateway:subagent',
      parameters: { name: 'w', tools: [{ type: 'gateway:mcp', parameters: shown }, { type: 'gateway:datetime' }] },
    })
    const harmless = { type: 'gateway:subagent', parameters: { tools: [{ type: 'gateway:datetime' }] } }
    expect(withoutSecrets(harmless)).toBe(harmless)
  })
})
