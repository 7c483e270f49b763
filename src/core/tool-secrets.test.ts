import { describe, expect, it } from 'vitest'
import type { Tool } from './item.ts'
import { inputWithoutSecrets, secretsOfTools, withoutSecrets } from './tool-secrets.ts'

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

  it('is the same object where there is nothing to hide', () => {
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

describe('secrets of tools', () => {
  it('are credentials and what follows the origin of a URL, wherever the tool has its fields', () => {
    const settings = { server_url: 'https://user:pass@a.example/path?key=1', authorization: 'token', headers: { 'x-key': 'value', odd: 1 } }
    const all = ['pass', '/path?key=1', 'token', 'value']
    expect(secretsOfTools([{ type: 'mcp', ...settings }])).toEqual(all)
    expect(secretsOfTools([{ type: 'mcp', parameters: settings }])).toEqual(all)
    expect(secretsOfTools([{ type: 'function', name: 'f', parameters: { authorization: 'a word' } }])).toEqual([])
    expect(secretsOfTools(undefined)).toEqual([])
    const within = (tool: Tool): Tool => ({ type: 'namespace', name: 'n', tools: [tool] })
    expect(secretsOfTools([within(within({ type: 'mcp', ...settings }))])).toEqual(all)
  })

  it('are limited in number, so that a text is searched for them quickly', () => {
    const tools = Array.from({ length: 100 }, (_, n) => ({ type: 'mcp', authorization: `${n}`.padEnd(10_000, 'x') }))
    expect(secretsOfTools(tools)).toHaveLength(6)
  })
})

describe('tools declared in the input', () => {
  const mcp = { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example/key-in-path', authorization: 'long enough' }
  const hello = { type: 'message', role: 'user', content: 'hi' } as const
  const items = ['additional_tools', 'tool_search_output'].map((type) => ({ type, tools: [mcp, { type: 'function', name: 'f' }] }))

  it('are stored without their secrets, and otherwise unchanged', () => {
    const shown = [
      { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example' },
      { type: 'function', name: 'f' },
    ]
    const kept = inputWithoutSecrets([hello, ...items])
    expect(kept).toEqual([hello, { type: 'additional_tools', tools: shown }, { type: 'tool_search_output', tools: shown }])
    expect(kept[0]).toBe(hello)
    const harmless = [hello, { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] }]
    expect(inputWithoutSecrets(harmless)[1]).toBe(harmless[1])
    expect(inputWithoutSecrets([hello])).toEqual([hello])
  })

  it('have secrets that no failure may show', () => {
    expect(secretsOfTools(undefined, [hello, items[0]!])).toEqual(expect.arrayContaining(['long enough', '/key-in-path']))
  })
})

it('finds credentials of servers in a namespace, too', () => {
  const server = { type: 'mcp', server_label: 'a', authorization: 'a secret' }
  const tools = [{ type: 'namespace', name: 'n', tools: [server] }]
  const shown = { type: 'namespace', name: 'n', tools: [{ type: 'mcp', server_label: 'a' }] }
  expect(withoutSecrets(tools[0]!)).toEqual(shown)
  expect(inputWithoutSecrets([{ type: 'tool_search_output', tools }])).toEqual([{ type: 'tool_search_output', tools: [shown] }])
  expect(secretsOfTools(tools)).toEqual(['a secret'])
})
