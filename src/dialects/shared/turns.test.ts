import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { COMMON_TOOL_NAMES, createToolNames } from './tool-names.ts'
import { joinTexts } from './content-parts.ts'
import { foldTurns } from './turns.ts'
import type { Conversation, Turn } from './conversation.ts'
import type { FoldOptions } from './turns.ts'

// The same cases in every run: a failure must not depend on luck.
fc.configureGlobal({ seed: 20260301 })

const user = (text: string): InputItem => ({ type: 'message', role: 'user', content: text })
const assistant = (text: string): InputItem => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
const system = (text: string): InputItem => ({ type: 'message', role: 'system', content: text })
const call = (id: string, name = 'f', args = '{"a":1}'): InputItem => ({ type: 'function_call', call_id: id, name, arguments: args })
const output = (id: string, text = `result ${id}`): InputItem => ({ type: 'function_call_output', call_id: id, output: text })
const reasoning = (text: string): InputItem => ({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] })

function fold(input: readonly InputItem[], options: Partial<FoldOptions> = {}, instructions?: string): Conversation {
  return foldTurns(
    { input, ...(instructions === undefined ? {} : { instructions }) },
    {
      callIds: { pattern: /^[\w-]+$/, max: 40 },
      names: createToolNames(COMMON_TOOL_NAMES),
      laterSystem: 'in-place',
      alternate: false,
      keepReasoning: () => true,
      ...options,
    },
  )
}

/** Turns in a notation that fits a line: `A(text call:id) T(id=result)`. */
function sketch(turns: readonly Turn[]): string {
  return turns
    .map((turn) => {
      if (turn.role === 'tool') return `T(${turn.results.map((result) => `${result.callId}=${joinTexts(result.parts)}`).join(', ')})`
      if (turn.role === 'user') return `U(${joinTexts(turn.parts)})`
      if (turn.role === 'assistant')
        return `A(${turn.parts.map((part) => (part.type === 'call' ? `call:${part.id}` : part.type === 'text' ? part.text : part.type === 'item' ? part.item.type : `think:${part.text}`)).join(' ')})`
      return `S(${joinTexts(turn.parts)})`
    })
    .join(' ')
}

describe('items of other types', () => {
  const image = { type: 'image_generation_call', result: 'AAAA' }
  it('are dropped and named, unless the dialect keeps them', () => {
    const input = [user('draw'), image, assistant('done')]
    expect(fold(input).dropped).toEqual(['input: image_generation_call'])
    const kept = fold(input, { keepItem: (item) => item.type === 'image_generation_call' })
    expect(kept.dropped).toEqual([])
    expect(sketch(kept.turns)).toBe('U(draw) A(image_generation_call done)')
  })
  it('are not named like a type that is dropped altogether if others of their type are sent', () => {
    const failed = { type: 'image_generation_call', result: '' }
    const nameless = { type: 'shell_call', action: {} }
    const input = [failed, image, nameless, { ...nameless, call_id: 's' }]
    expect(fold(input, { keepItem: (item) => item['result'] === 'AAAA' }).dropped).toEqual([
      'input: shell_call became a function call',
      'input: image_generation_call in part',
      'input: shell_call in part',
    ])
  })
})

describe('media', () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' } as const
  const seen = (role: 'system' | 'developer' | 'assistant', text?: string): InputItem => ({
    type: 'message',
    role,
    content: [...(text === undefined ? [] : [{ type: 'input_text', text } as const]), image],
  })
  const shown = { role: 'user', parts: [{ type: 'input_text', text: 'Attached to the instructions:' }, image] }
  it('of instructions are shown by the user, before anything else', () => {
    const { system: first, turns } = fold([seen('developer', 'd'), system('s'), user('q')])
    expect(first.map(({ role, parts }) => `${role}:${joinTexts(parts)}`)).toEqual(['developer:d', 'system:s'])
    expect(turns).toEqual([shown, { role: 'user', parts: [{ type: 'input_text', text: 'q' }] }])
    expect(fold([seen('system')])).toMatchObject({ system: [], turns: [shown] })
  })
  it('of system messages may be as many as a body has keys', () => {
    const many: InputItem = { type: 'message', role: 'system', content: Array.from({ length: 250_000 }, () => image) }
    expect(fold([many]).turns[0]).toMatchObject({ parts: { length: 250_001 } })
    expect(fold([user('q'), many]).turns[1]).toMatchObject({ parts: { length: 250_001 } })
  })
  it('of later system messages are shown by the user, where these stand', () => {
    expect(fold([user('q'), seen('system', 's'), user('r')]).turns.slice(1, 3)).toEqual([
      { role: 'system', parts: [{ type: 'input_text', text: 's' }] },
      shown,
    ])
    expect(fold([user('q'), seen('system', 's')], { laterSystem: 'user-text' }).turns[1]).toEqual({
      role: 'user',
      parts: [{ type: 'input_text', text: '<system_message>\ns\n</system_message>' }, ...shown.parts],
    })
    expect(fold([user('q'), seen('system')]).turns.slice(1)).toEqual([shown])
  })
  it('of the assistant are reported, because no assistant can send them', () => {
    const { turns, dropped } = fold([user('q'), seen('assistant', 'a'), user('r')])
    expect(sketch(turns)).toBe('U(q) A(a) U(r)')
    expect(dropped).toEqual(['input: input_image of the assistant'])
  })
})

describe('a later system message as text of the user', () => {
  it('keeps the last mark of what is cached up to it', () => {
    const mark = { mode: 'explicit', ttl: '1h' } as const
    const marked: InputItem = {
      type: 'message',
      role: 'system',
      content: [
        { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_text', text: 'b', prompt_cache_breakpoint: mark },
      ],
    }
    expect(fold([user('q'), marked], { laterSystem: 'user-text' }).turns[1]).toEqual({
      role: 'user',
      parts: [{ type: 'input_text', text: '<system_message>\na\n\nb\n</system_message>', prompt_cache_breakpoint: mark }],
    })
  })
})

describe('folding', () => {
  it.each<[string, InputItem[], string]>([
    [
      'consecutive items of the assistant are one turn',
      [user('q'), reasoning('r'), assistant('t'), call('1'), output('1')],
      'U(q) A(think:r t call:1) T(1=result 1)',
    ],
    [
      'parallel calls, results in the order of the calls',
      [user('q'), call('1'), call('2'), output('2'), output('1')],
      'U(q) A(call:1 call:2) T(1=result 1, 2=result 2)',
    ],
    [
      'a result between two calls ends the turn',
      [user('q'), call('1'), output('1'), call('2'), output('2')],
      'U(q) A(call:1) T(1=result 1) A(call:2) T(2=result 2)',
    ],
    ['a user message between call and result', [user('q'), call('1'), user('hurry'), output('1')], 'U(q) A(call:1) T(1=result 1) U(hurry)'],
    ['a call without result gets one', [user('q'), call('1'), user('go on')], 'U(q) A(call:1) T(1=No result is available for this call.) U(go on)'],
    [
      'a result without call becomes text of the user',
      [user('q'), output('9')],
      'U(q) U(Result of a tool call that is not part of this conversation:\n\nresult 9)',
    ],
    [
      'a result left over from a call that was cut away takes no call from its own result',
      [output('1', 'stale'), user('q'), call('1'), output('1')],
      'U(Result of a tool call that is not part of this conversation:\n\nstale) U(q) A(call:1) T(1=result 1)',
    ],
    ['a result before its call finds it', [user('q'), output('1'), call('1')], 'U(q) A(call:1) T(1=result 1)'],
    ['empty messages vanish', [user('q'), assistant(''), user(''), user('x')], 'U(q) U(x)'],
    ['a late system message stays where it is', [user('q'), system('s'), user('r')], 'U(q) S(s) U(r)'],
  ])('%s', (_name, input, expected) => {
    expect(sketch(fold(input).turns)).toBe(expected)
  })

  it('collects instructions and leading system messages apart', () => {
    const { system: leading, turns } = fold([system('a'), { type: 'message', role: 'developer', content: 'b' }, user('q')], {}, 'i')
    expect(leading.map(({ role, parts }) => `${role}:${parts.map(({ text }) => text).join()}`)).toEqual(['system:i', 'system:a', 'developer:b'])
    expect(sketch(turns)).toBe('U(q)')
  })

  it('writes late system messages as marked text of the user where the endpoint takes one only', () => {
    expect(sketch(fold([user('q'), system('s')], { laterSystem: 'user-text' }).turns)).toBe('U(q) U(<system_message>\ns\n</system_message>)')
  })

  it('alternates roles and begins with the user where the endpoint wants it', () => {
    expect(sketch(fold([assistant('a'), assistant('b'), user('c'), user('d')], { alternate: true }).turns)).toBe('U(Continue.) A(a b) U(c\n\nd)')
  })

  it('does not treat an answer as prefilled when an empty user message follows it', () => {
    expect(sketch(fold([user('q'), assistant('a'), user('')]).turns)).toBe('U(q) A(a) U(Continue.)')
    expect(sketch(fold([user('q'), assistant('a'), user(''), assistant('b')]).turns)).toBe('U(q) A(a b)')
    expect(sketch(fold([user('q'), call('c'), output('c', 'r'), user('')]).turns)).toBe('U(q) A(call:c) T(c=r)')
    expect(sketch(fold([user('q'), assistant('a'), user(' \n')], { alternate: true }).turns)).toBe('U(q) A(a) U(Continue.)')
    expect(sketch(fold([user('q'), assistant('a'), user(' \n')]).turns)).toBe('U(q) A(a) U( \n)')
  })

  it('gives parallel calls that share an id their results in order, and one of a later turn its own', () => {
    const pair = [call('c'), call('c'), output('c', 'one'), output('c', 'two')]
    expect(fold([user('q'), ...pair]).turns.at(-1)).toMatchObject({
      results: [{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }],
    })
    const results = fold([user('q'), call('c'), user('stop'), ...pair]).turns.filter((turn) => turn.role === 'tool')
    expect(results).toMatchObject([{ results: [{ missing: true }] }, { results: [{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }] }])
  })
  it('gives calls that share an id across turns different ids, and each its own result', () => {
    const { turns } = fold([user('q'), call('x', 'f'), output('x', 'one'), call('x', 'f'), output('x', 'two')])
    const results = turns.flatMap((turn) => (turn.role === 'tool' ? turn.results : []))
    expect(results.map(({ parts }) => joinTexts(parts))).toEqual(['one', 'two'])
    expect(new Set(results.map(({ callId }) => callId)).size).toBe(2)
  })

  it('rewrites ids to the rule of the endpoint, call and result alike', () => {
    const { turns } = fold([user('q'), call('call_much-too-long-for-this'), output('call_much-too-long-for-this')], {
      callIds: { pattern: /^[a-zA-Z0-9]{9}$/, max: 9, length: 9 },
    })
    expect(sketch(turns)).toMatch(/^U\(q\) A\(call:([a-zA-Z0-9]{9})\) T\(\1=result call_much-too-long-for-this\)$/)
  })

  it('turns free-form calls into function calls and empty arguments into an object', () => {
    const { turns } = fold([
      user('q'),
      { type: 'custom_tool_call', call_id: '1', name: 'patch', input: 'a "b"' },
      call('2', 'g', ''),
      call('3', 'g', 'null'),
    ])
    expect(turns[1]).toMatchObject({
      parts: [
        { name: 'patch', arguments: '{"input":"a \\"b\\""}' },
        { name: 'g', arguments: '{}' },
        { name: 'g', arguments: '{}' },
      ],
    })
  })

  it('reads reasoning from the envelope, drops what the endpoint cannot read and says so', () => {
    const sealed: InputItem = {
      type: 'reasoning',
      summary: [],
      encrypted_content: sealReasoning({ format: 'f', scope: 's', text: 'exact', signature: 'sig' }),
    }
    const kept = fold([user('q'), sealed, assistant('a')])
    expect(kept.turns[1]).toMatchObject({ parts: [{ type: 'reasoning', text: 'exact', signature: 'sig', format: 'f', scope: 's' }, { text: 'a' }] })
    const dropped = fold([user('q'), sealed, assistant('a')], { keepReasoning: (part) => part.scope === 'other' })
    expect(dropped.droppedReasoning).toBe(true)
    expect(sketch(dropped.turns)).toBe('U(q) A(a)')
  })

  it('never forwards an opaque blob of an unknown party', () => {
    const foreign = fold([user('q'), { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }, assistant('a')])
    expect([sketch(foreign.turns), foreign.droppedReasoning, foreign.droppedSealed]).toEqual(['U(q) A(a)', true, true])
    const nothing = fold([user('q'), { type: 'reasoning', summary: [] }, assistant('a')])
    expect([nothing.droppedReasoning, nothing.droppedSealed]).toEqual([false, false])
  })

  it('names what it leaves out, and refuses references to stored items', () => {
    expect(fold([user('q'), { type: 'web_search_call', id: 'ws' }]).dropped).toEqual(['input: web_search_call'])
    expect(() => fold([{ type: 'item_reference', id: 'x' }])).toThrowError(/item_reference/)
  })
})

describe('any history', () => {
  const item = fc.oneof(
    fc.string({ maxLength: 3 }).map(user),
    fc.string({ maxLength: 3 }).map(assistant),
    fc.string({ maxLength: 3 }).map(system),
    fc.string({ maxLength: 3 }).map(reasoning),
    fc.constantFrom('a', 'b', 'c', 'ü!').map((id) => call(id)),
    fc.constantFrom('a', 'b', 'c', 'ü!').map((id) => output(id)),
  )
  it('gives every call exactly one result directly behind its turn, unique ids, no empty turn', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 20 }), fc.boolean(), (input, alternate) => {
        const { turns } = fold(input, { alternate })
        const ids: string[] = []
        turns.forEach((turn, index) => {
          if (turn.role === 'assistant') {
            const calls = turn.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))
            ids.push(...calls)
            const next = turns[index + 1]
            if (calls.length > 0) expect(next?.role === 'tool' ? next.results.map(({ callId }) => callId) : undefined).toEqual(calls)
            expect(turn.parts.length).toBeGreaterThan(0)
          } else if (turn.role === 'tool') expect(turns[index - 1]?.role).toBe('assistant')
          else expect(turn.parts.length).toBeGreaterThan(0)
        })
        expect(new Set(ids).size).toBe(ids.length)
        expect(ids.length).toBe(input.filter(({ type }) => type === 'function_call').length)
        if (alternate) {
          expect(turns[0]?.role).not.toBe('assistant')
          turns.forEach(
            (turn, index) => index > 0 && turn.role !== 'tool' && turn.role !== 'system' && expect(turn.role).not.toBe(turns[index - 1]!.role),
          )
        }
      }),
    )
  })
})

describe('a conversation of many items', () => {
  const times = (count: number, make: (n: number) => InputItem | readonly InputItem[]): InputItem[] =>
    Array.from({ length: count }, (_, n) => make(n)).flat()
  it.each([
    ['results before all calls', () => [...times(40_000, (n) => output(`o${n}`)), ...times(40_000, (n) => call(`c${n}`))]],
    ['results before their calls, in reverse', () => [...times(40_000, (n) => output(`c${n}`)), ...times(40_000, (n) => call(`c${39_999 - n}`))]],
    ['one id, calls in turns of their own', () => [...times(40_000, () => [call('c'), user('x')]), ...times(40_000, () => output('c'))]],
    ['one id, calls of one turn', () => [...times(60_000, () => call('c')), ...times(60_000, () => output('c'))]],
    ['users alone', () => times(100_000, () => user('x'))],
    ['answers alone', () => times(100_000, () => assistant('x'))],
  ])('costs time in proportion to its size: %s', (_name, make) => {
    const input = make()
    for (const alternate of [true, false]) {
      const started = threadTime()
      fold(input, { alternate })
      expect(threadTime() - started).toBeLessThan(1_500)
    }
  })
  it('gives parallel calls of one id their results in order, wherever those stand', () => {
    expect(sketch(fold([output('c', 'first'), output('c', 'second'), call('c'), call('c')]).turns)).toMatch(/=first, .*=second/)
    expect(sketch(fold([call('c'), call('c'), output('c', 'first'), output('c', 'second')]).turns)).toMatch(/=first, .*=second/)
  })
})
