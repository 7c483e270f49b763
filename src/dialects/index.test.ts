import { describe, expect, it } from 'vitest'
import type { Target } from '../core/dialect.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import { dialects } from './index.ts'

function target(name: string, options: object = {}): Target {
  const dialect = dialects.get(name)!
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: 'small-1',
    options: dialect.options.parse(options),
    supports: new Set(dialect.supports),
    contextLength: 128_000,
    scope: 'acme/main',
    stream: true,
  }
}

describe('tools that stand in the input', () => {
  const request: ModelRequest = {
    input: [
      { type: 'message', role: 'user', content: 'q' },
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'git', tools: [{ type: 'function', name: 'log' }] }] },
    ],
    tools: [{ type: 'function', name: 'f' }],
  }
  const others = [...dialects.keys()].filter((name) => name !== 'openai-responses')
  it.each(others)('are offered with the others in %s', (name) => {
    const { body, dropped } = dialects.get(name)!.encodeRequest(request, target(name))
    expect(body).toContain('"git__log"')
    expect(dropped).not.toContain('input: additional_tools')
  })
  it('stay where they are in the format that knows them, and only there', () => {
    const name = 'openai-responses'
    const sent = (options: object): { input: unknown[]; tools: unknown[] } =>
      JSON.parse(dialects.get(name)!.encodeRequest(request, target(name, options)).body)
    expect(sent({}).input[1]).toMatchObject({ type: 'additional_tools' })
    expect(sent({ builtin_tools: false, namespace_tools: false })).toMatchObject({
      input: [{ role: 'user' }],
      tools: [{ name: 'f' }, { name: 'git__log' }],
    })
  })
  it('are called by the names the caller knows', () => {
    const out: ModelEvent[] = []
    const name = 'openai-chat'
    const decoder = dialects.get(name)!.decoder(request, target(name))
    const calls = [{ index: 0, id: 'c', function: { name: 'git__log', arguments: '{}' } }]
    decoder.push(JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: 'tool_calls' }] }), undefined, out)
    expect(out).toContainEqual(expect.objectContaining({ item: expect.objectContaining({ name: 'log', namespace: 'git' }) }))
  })
})
