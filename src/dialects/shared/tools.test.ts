import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Tool, ToolChoice } from '../../core/item.ts'
import { createCustomInputStream, unwrapCustomInput, wrapCustomInput } from './custom-input.ts'
import { createIdMap } from './id-map.ts'
import { COMMON_TOOL_NAMES, createToolNames } from './tool-names.ts'
import { flattenTools } from './tools.ts'

// The same cases in every run: a failure must not depend on luck.
fc.configureGlobal({ seed: 20260301 })

const fn = (name: string): Tool => ({ type: 'function', name, parameters: { type: 'object', properties: {} } })

function flatten(tools: readonly Tool[], tool_choice?: ToolChoice): ReturnType<typeof flattenTools> {
  return flattenTools({ tools, ...(tool_choice === undefined ? {} : { tool_choice }) }, COMMON_TOOL_NAMES)
}

describe('examples of the input of a tool', () => {
  const tools = [{ ...fn('f'), description: 'Finds.', input_examples: [{ city: 'Paris' }, { city: 'Rome', limit: 2 }] }, fn('g')]
  it('are told in its description', () => {
    expect(flatten(tools).tools.map(({ description }) => description)).toEqual([
      'Finds.\n\nExamples of its input:\n{"city":"Paris"}\n{"city":"Rome","limit":2}',
      undefined,
    ])
  })
  it('stay by themselves for those who have a field for them', () => {
    const [tool] = flattenTools({ tools }, COMMON_TOOL_NAMES, { keepExamples: true }).tools
    expect(tool).toMatchObject({ description: 'Finds.', examples: [{ city: 'Paris' }, { city: 'Rome', limit: 2 }] })
  })
  it('that are invalid are ignored', () => {
    for (const input_examples of [[], null, 'x', [1]]) expect(flatten([{ ...fn('f'), input_examples }]).tools[0]).not.toHaveProperty('description')
  })
})

describe('flattenTools', () => {
  it('says that tools whose results may come later become ordinary ones', () => {
    const late = { ...fn('f'), async: true }
    const namespace: Tool = { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'g', async: true }] }
    for (const tools of [[late], [fn('f'), namespace], [late, namespace]]) expect(flatten(tools).dropped).toEqual(['tools: async'])
    expect(
      flatten([
        { ...fn('f'), async: false },
        { ...fn('g'), async: null },
      ]).dropped,
    ).toEqual([])
  })

  it('offers a free-form tool as a function with one string and tells the model the grammar', () => {
    const { tools, names } = flatten([
      { type: 'custom', name: 'patch', description: 'Patches.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    ])
    expect(tools).toEqual([
      {
        name: 'patch',
        description: 'Patches.\n\nThe input must match this lark grammar:\nstart: "x"',
        parameters: {
          type: 'object',
          properties: { input: { type: 'string', description: 'The complete input of the tool, as plain text.' } },
          required: ['input'],
          additionalProperties: false,
        },
      },
    ])
    expect(names.origin('patch')).toEqual({ kind: 'custom', name: 'patch' })
  })

  it('flattens namespaces and maps them back', () => {
    const { tools, names } = flatten([{ type: 'namespace', name: 'git', tools: [fn('log'), { type: 'custom', name: 'apply' }] }])
    expect(tools.map(({ name }) => name)).toEqual(['git__log', 'git__apply'])
    expect(names.origin('git__log')).toEqual({ kind: 'function', name: 'log', namespace: 'git' })
    expect(names.origin('git__apply')).toEqual({ kind: 'custom', name: 'apply', namespace: 'git' })
  })

  it('chooses the tool without a namespace where one inside has the same name', () => {
    const tools: Tool[] = [{ type: 'namespace', name: 'git', tools: [fn('log')] }, fn('log')]
    const names = (choice: ToolChoice): unknown => {
      const flat = flatten(tools, choice)
      return [flat.tools.map(({ name }) => name), flat.choice]
    }
    expect(names({ type: 'function', name: 'log' })).toEqual([['git__log', 'log'], { mode: 'named', name: 'log' }])
    expect(names({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'log' }] })).toEqual([['log'], { mode: 'auto' }])
  })

  it('rewrites names the endpoint refuses, without displacing a tool that has that name', () => {
    const { tools, names } = flatten([fn('a.b'), fn('a_b'), fn('x'.repeat(100))])
    expect(tools.every(({ name }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect(tools.map(({ name }) => names.origin(name).name)).toEqual(['a.b', 'a_b', 'x'.repeat(100)])
  })

  it('drops and names tools that are no functions, and the second of one name', () => {
    const { tools, dropped } = flatten([fn('a'), { type: 'web_search' }, fn('a')])
    expect(tools).toHaveLength(1)
    expect(dropped).toEqual(['tools: web_search'])
  })

  it.each<[string, ToolChoice, string[], unknown]>([
    ['a mode', 'required', ['a', 'b'], { mode: 'required' }],
    ['one tool', { type: 'function', name: 'b' }, ['a', 'b'], { mode: 'named', name: 'b' }],
    ['allowed tools', { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] }, ['b'], { mode: 'required' }],
    ['a tool that is not there', { type: 'function', name: 'z' }, ['a', 'b'], undefined],
  ])('choice: %s', (_name, choice, names, expected) => {
    const flat = flatten([fn('a'), fn('b')], choice)
    expect(flat.tools.map(({ name }) => name)).toEqual(names)
    expect(flat.choice).toEqual(expected)
  })

  it('chooses nothing when there is nothing to choose from', () => {
    expect(flatten([], 'required').choice).toBeUndefined()
  })
})

describe('names and ids', () => {
  it('maps any set of names to valid, different ones and back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 80 }), { maxLength: 12 }), (list) => {
        const names = createToolNames(COMMON_TOOL_NAMES)
        const upstream = list.map((name) => names.upstream(name))
        expect(new Set(upstream).size).toBe(list.length)
        for (const [index, name] of upstream.entries()) {
          expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
          expect(names.origin(name).name).toBe(list[index])
        }
      }),
    )
  })
  it('maps any set of ids to valid, different ones, the same way every time', () => {
    const rule = { pattern: /^[a-zA-Z0-9]{9}$/, max: 9, length: 9 }
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 30 }), { maxLength: 12 }), (list) => {
        const map = createIdMap(rule)
        const ids = list.map((id) => map(id, 0))
        expect(new Set(ids).size).toBe(list.length)
        for (const id of ids) expect(id).toMatch(rule.pattern)
        const again = createIdMap(rule)
        expect(list.map((id) => again(id, 0))).toEqual(ids)
      }),
    )
  })
})

/** Cuts text at arbitrary places. */
const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 40 })
function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = []
  let at = 0
  for (const size of sizes) {
    if (at >= text.length) break
    pieces.push(text.slice(at, at + size))
    at += size
  }
  return [...pieces, text.slice(at)]
}
function stream(text: string, sizes: readonly number[]): { streamed: string; input: string } {
  const reader = createCustomInputStream()
  let streamed = ''
  for (const piece of cut(text, sizes)) streamed += reader.push(piece)
  const { rest, input } = reader.end()
  return { streamed: streamed + rest, input }
}

describe('free-form input', () => {
  it('survives wrapping and any cut of the stream', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), cuts, (input, sizes) => {
        expect(unwrapCustomInput(wrapCustomInput(input))).toBe(input)
        expect(stream(wrapCustomInput(input), sizes)).toEqual({ streamed: input, input })
      }),
    )
  })
  it('survives escaped surrogate pairs cut anywhere', () => {
    for (let size = 1; size < 30; size++)
      expect(stream('{ "input" : "a\\ud83d\\ude00\\n\\u00e9b"}', Array<number>(40).fill(size)).streamed).toBe('a😀\néb')
  })
  it.each([
    ['{"input":"C:\\users\\udata"}', 'C:\\users\\udata'],
    ['{"input":"\\u12"}', '\\u12'],
    ['{"input":"\\ud83d\\users"}', '\ud83d\\users'],
    ['{"input":"a\\u00', 'a'],
  ])('leaves text that only looks like a character escape unchanged: %s', (text, expected) => {
    for (const size of [1, 3, 50]) expect(stream(text, Array<number>(50).fill(size)).streamed).toBe(expected)
  })
  it('streams before the end', () => {
    const reader = createCustomInputStream()
    expect(reader.push('{"input": "ab')).toBe('ab')
    expect(reader.push('c\\')).toBe('c')
    expect(reader.push('nd"}')).toBe('\nd')
  })
  it.each([
    ['plain text instead of JSON', '*** Begin Patch', '*** Begin Patch'],
    ['another property', '{"patch":"x"}', 'x'],
    ['a JSON string', '"x"', 'x'],
    ['an object without a single text', '{"a":1,"b":2}', '{"a":1,"b":2}'],
    ['cut off', '{"input":"abc', 'abc'],
    ['nothing', '', ''],
  ])('%s', (_name, text, expected) => {
    expect(stream(text, [3, 3])).toEqual({ streamed: expected, input: expected })
  })
  it.each([
    ['{"input":"abc', true],
    ['{"input":"abc\\', true],
    ['{"inp', true],
    ['{"input":"abc"', false],
    ['{"input":"abc"}', false],
    ['{"patch":"abc"}', false],
    ['{ body { color: red', false],
    ['plain', false],
    ['', false],
  ])('knows whether it breaks off: %s', (text, broken) => {
    const reader = createCustomInputStream()
    reader.push(text)
    expect(reader.end().breaksOff).toBe(broken)
  })
})
