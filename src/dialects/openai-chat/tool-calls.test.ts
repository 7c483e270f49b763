import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { Tool } from '../../core/item.ts'
import { checkEventBalance, foldEvents } from '../../testing/event-balance.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

function decode(frames: readonly unknown[], { tools = [] }: { readonly tools?: readonly Tool[] } = {}): ModelEvent[] {
  const decoder = new ChatDecoder({ input: [], tools }, chatTarget())
  const out: ModelEvent[] = []
  for (const frame of frames) decoder.push(JSON.stringify(frame), undefined, out)
  decoder.push('[DONE]', undefined, out)
  decoder.end(out)
  checkEventBalance(out)
  return out
}

describe('arguments in a text', () => {
  const written = (...pieces: readonly string[]): ModelEvent[] =>
    decode(
      pieces.map((args, at) => ({
        choices: [
          {
            delta: {
              tool_calls: [{ index: 0, ...(at === 0 ? { id: 'c' } : {}), function: { ...(at === 0 ? { name: 'f' } : {}), arguments: args } }],
            },
          },
        ],
      })),
    )
  const argumentsOf = (...pieces: readonly string[]): unknown => foldEvents(written(...pieces)).calls.map(({ text }) => text)
  const object = '{"city":"Oslo \\"1\\""}'
  const text = JSON.stringify(object)

  it('are what the text says, however it is cut', () => {
    expect(argumentsOf(text)).toEqual([object])
    expect(argumentsOf(...text)).toEqual([object])
  })
  it('stay as they are where it says no object, or breaks off', () => {
    expect(argumentsOf('"Oslo"')).toEqual(['"Oslo"'])
    const broken = '"{\\"city\\":'
    expect(argumentsOf(broken)).toEqual([broken])
    expect(written(broken)).toContainEqual({ type: 'item-end', key: 'c0', item: { status: 'incomplete' } })
  })
})

describe('a call under a name with a piece of the model’s own notation', () => {
  const tools: Tool[] = [{ type: 'function', name: 'query' }]
  const nameOf = (name: string): unknown => {
    const start = decode([{ choices: [{ delta: { tool_calls: [{ index: 0, id: 'c', function: { name, arguments: '{}' } }] } }] }], { tools }).find(
      ({ type }) => type === 'item-start',
    )
    return start?.type === 'item-start' && 'name' in start.item ? start.item.name : undefined
  }
  it.each(['query', 'query<|channel|>commentary', 'query <|constrain|>json', 'functions.query', ' query'])('is one of the tool: %s', (name) => {
    expect(nameOf(name)).toBe('query')
  })
  it.each(['functions.other', 'other<|channel|>analysis', 'query.functions'])('stays as it is where there is no such tool: %s', (name) => {
    expect(nameOf(name)).toBe(name)
  })
})
