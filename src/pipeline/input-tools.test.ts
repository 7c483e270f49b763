import { describe, expect, it } from 'vitest'
import type { Target } from '../core/dialect.ts'
import type { ModelEvent } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import type { ToolSource } from '../core/tool-source.ts'
import { answerDialects, dialects } from '../dialects/index.ts'
import { anyTarget } from '../testing/any-target.ts'
import { readableInput, withOwnTools } from './input-tools.ts'

const target = (name: string, options?: object): Target => anyTarget(dialects.get(name)!, options)

describe('tools declared in the input', () => {
  const request: ModelRequest = {
    input: [
      { type: 'message', role: 'user', content: 'q' },
      { type: 'additional_tools', role: 'developer', tools: [{ type: 'namespace', name: 'git', tools: [{ type: 'function', name: 'log' }] }] },
    ],
    tools: [{ type: 'function', name: 'f' }],
  }
  const native = answerDialects.filter((dialect) => dialect.readsInputTools?.(target(dialect.name)) === true)
  const others = answerDialects.filter((dialect) => !native.includes(dialect)).map(({ name }) => name)
  it('are supported in place by one format only', () => expect(native.map(({ name }) => name)).toEqual(['openai-responses']))
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
  it('leave requests without them as the same object', () => {
    const plain: ModelRequest = { input: [request.input[0]!] }
    for (const dialect of answerDialects) expect(readableInput(plain, dialect, target(dialect.name))).toBe(plain)
  })
})

describe('messages between agents', () => {
  const said = (...content: readonly object[]): ModelRequest => ({
    input: [
      { type: 'message', role: 'user', content: 'q' },
      { type: 'agent_message', id: 'amsg_1', author: '/root', recipient: '/root/child', content },
    ],
  })
  const head = { type: 'input_text', text: 'Message Type: NEW_TASK\nPayload:\n' }
  const sent = (name: string, request: ModelRequest): { body: string; dropped: readonly string[] } => {
    const dialect = dialects.get(name)!
    const { body, dropped } = dialect.encodeRequest(readableInput(request, dialect, target(name)), target(name))
    return { body, dropped: dropped ?? [] }
  }
  const others = answerDialects.map(({ name }) => name).filter((name) => name !== 'openai-responses')
  it.each(others)('become text of the user in %s: the task, and plain text where other vendors encrypt', (name) => {
    const { body, dropped } = sent(name, said(head, { type: 'encrypted_content', encrypted_content: 'Count the files' }))
    expect(body).toContain('Message Type: NEW_TASK')
    expect(body).toContain('Count the files')
    expect(dropped).not.toContain('input: agent_message')
  })
  it.each(others)('lose their encrypted parts in %s', (name) => {
    const { body } = sent(name, said(head, { type: 'encrypted_content', encrypted_content: `gAAAA${'Ab3_-'.repeat(40)}==` }))
    expect(body).toContain('Message Type: NEW_TASK')
    expect(body).not.toContain('gAAAA')
  })
  it('that are completely encrypted are left out', () => {
    const request = said({ type: 'encrypted_content', encrypted_content: 'gAAAA'.repeat(20) })
    const dialect = dialects.get('openai-chat')!
    expect(readableInput(request, dialect, target('openai-chat')).input).toEqual([request.input[0]])
  })
  it.each(others)('keep their text in %s if a part has an unknown type', (name) => {
    const { body } = sent(name, said({ type: 'harness_note', text: 'Look in src' }, { type: '', text: 7 }, { type: 'constructor' }, head))
    expect(body).toContain('Look in src')
    expect(body).toContain('Message Type: NEW_TASK')
    expect(body).not.toContain('null')
  })
  it('are unchanged in the format that supports them', () => {
    const sealed = { type: 'encrypted_content', encrypted_content: 'gAAAA' }
    expect(JSON.parse(sent('openai-responses', said(head, sealed)).body).input[1]).toMatchObject({ type: 'agent_message', content: [head, sealed] })
  })
})

describe('tools of the gateway in the input', () => {
  const tool = { type: 'openrouter:datetime' }
  const theirs = { type: 'web_search' }
  const added = (...tools: readonly { readonly type: string }[]) => ({ type: 'additional_tools', role: 'developer', tools })
  const hello = { type: 'message', role: 'user', content: 'hi' } as const
  const server = { type: 'servers' }
  const registry = { source: (type: string) => (type === server.type ? ({} as ToolSource) : undefined) }
  it('are moved to the other tools, and an item without further tools is removed', () => {
    const request = { input: [added(tool, theirs), hello, added(server)], tools: [theirs] }
    expect(withOwnTools(request, registry)).toEqual({ input: [added(theirs), hello], tools: [theirs, tool, server] })
    expect(request.input).toHaveLength(3)
  })
  it('may be as many as a body has keys', () => {
    const many = Array.from({ length: 250_000 }, () => tool)
    expect(withOwnTools({ input: [added(...many.slice(0, 1)), { ...added(), tools: many }] }, registry).tools).toHaveLength(250_001)
  })
  it('are searched for without changing a request that has none', () => {
    const request = { input: [added(theirs), hello] }
    expect(withOwnTools(request, registry)).toBe(request)
  })
})
