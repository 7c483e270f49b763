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

  it('are the JSON in the text, however it is cut', () => {
    expect(argumentsOf(text)).toEqual([object])
    expect(argumentsOf(...text)).toEqual([object])
  })
  it('stay as they are where it is not an object, or breaks off', () => {
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
  it.each(['query', 'query<|channel|>commentary', 'query <|constrain|>json', 'functions.query', ' query', 'default_api.query', 'default_api:query'])(
    'is one of the tool: %s',
    (name) => {
      expect(nameOf(name)).toBe('query')
    },
  )
  it.each(['functions.other', 'other<|channel|>analysis', 'query.functions'])('stays as it is where there is no such tool: %s', (name) => {
    expect(nameOf(name)).toBe(name)
  })
})

describe('a name in pieces', () => {
  const tools: Tool[] = [
    { type: 'function', name: 'edit_existing_file' },
    { type: 'function', name: 'edit' },
  ]
  const callsOf = (...pieces: readonly (readonly [name: string, args?: string, id?: string])[]): unknown =>
    foldEvents(
      decode(
        pieces.map(([name, args = '', id]) => ({
          choices: [{ delta: { tool_calls: [{ index: 0, ...(id === undefined ? {} : { id }), function: { name, arguments: args } }] } }],
        })),
        { tools },
      ),
    ).calls.map(({ name, text }) => [name, text])

  it('is one name', () => {
    expect(callsOf(['edit_ex', '', 'c'], ['isting_file'], ['', '{"a":1}'])).toEqual([['edit_existing_file', '{"a":1}']])
    expect(callsOf(['edit_ex', '', 'c'], ['isting', '', 'c'], ['_file', '{"a":1}', 'c'])).toEqual([['edit_existing_file', '{"a":1}']])
  })
  it('is one name where each piece holds those before it', () => {
    expect(callsOf(['edit_ex', '', 'c'], ['edit_existing_file', '{"a":1}'])).toEqual([['edit_existing_file', '{"a":1}']])
  })
  it('is left alone where it is the name of a tool, or of none', () => {
    expect(callsOf(['edit', '{}', 'c'], ['edit_existing_file', '{"a":1}'])).toEqual([
      ['edit', '{}'],
      ['edit_existing_file', '{"a":1}'],
    ])
    expect(callsOf(['other', '{}', 'c'])).toEqual([['other', '{}']])
  })
  it('is used as far as it goes when nothing more comes', () => {
    expect(callsOf(['edit_ex', '', 'c'])).toEqual([['edit_ex', '{}']])
  })
})

describe('a call whose every piece has another id', () => {
  const callsOf = (...pieces: readonly string[]): unknown =>
    foldEvents(
      decode(
        pieces.map((args, at) => ({
          choices: [{ delta: { tool_calls: [{ index: 0, id: `c${at}`, function: { name: 'look', arguments: args } }] } }],
        })),
      ),
    ).calls.map(({ text }) => text)

  it('is one call for as long as its arguments go on', () => {
    expect(callsOf('{"a":', '1', '}')).toEqual(['{"a":1}'])
  })
  it('is another one where they begin anew, or had none', () => {
    expect(callsOf('{"a":1}', '{"a":2}')).toEqual(['{"a":1}', '{"a":2}'])
    expect(callsOf('', '{"a":2}')).toHaveLength(2)
  })
})
