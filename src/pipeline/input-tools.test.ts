import { describe, expect, it } from 'vitest'
import type { Target } from '../core/dialect.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import { dialects } from '../dialects/index.ts'
import { readableInput } from './input-tools.ts'

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
  const native = [...dialects.values()].filter((dialect) => dialect.readsInputTools?.(target(dialect.name)) === true)
  const others = [...dialects.values()].filter((dialect) => !native.includes(dialect)).map(({ name }) => name)
  it('are read where they are by one format alone', () => expect(native.map(({ name }) => name)).toEqual(['openai-responses']))
  it.each(others)('are offered with the others in %s', (name) => {
    const dialect = dialects.get(name)!
    const { body, dropped } = dialect.encodeRequest(readableInput(request, dialect, target(name)), target(name))
    expect(body).toContain('"git__log"')
    expect(dropped).not.toContain('input: additional_tools')
  })
  it('stay where they are in the format that knows them, and only there', () => {
    const dialect = native[0]!
    const sent = (options: object): { input: unknown[]; tools: unknown[] } => {
      const to = target(dialect.name, options)
      return JSON.parse(dialect.encodeRequest(readableInput(request, dialect, to), to).body)
    }
    expect(sent({}).input[1]).toMatchObject({ type: 'additional_tools' })
    expect(sent({ builtin_tools: false, namespace_tools: false })).toMatchObject({
      input: [{ role: 'user' }],
      tools: [{ name: 'f' }, { name: 'git__log' }],
    })
  })
  it('are called by the names the caller knows', () => {
    const out: ModelEvent[] = []
    const name = 'openai-chat'
    const dialect = dialects.get(name)!
    const decoder = dialect.decoder(readableInput(request, dialect, target(name)), target(name))
    const calls = [{ index: 0, id: 'c', function: { name: 'git__log', arguments: '{}' } }]
    decoder.push(JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: 'tool_calls' }] }), undefined, out)
    expect(out).toContainEqual(expect.objectContaining({ item: expect.objectContaining({ name: 'log', namespace: 'git' }) }))
  })
  it('cost requests without them nothing: these stay themselves', () => {
    const plain: ModelRequest = { input: [request.input[0]!] }
    for (const dialect of dialects.values()) expect(readableInput(plain, dialect, target(dialect.name))).toBe(plain)
  })
})
