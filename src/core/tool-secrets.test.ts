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
})
