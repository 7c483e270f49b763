import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { REQUESTS } from './__fixtures__/requests.ts'
import { cohereTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { cohereV2 } from './index.ts'

const user = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })

interface Body {
  readonly messages: readonly {
    readonly role: string
    readonly content?: unknown
    readonly tool_call_id?: string
    readonly tool_calls?: readonly { readonly id: string }[]
  }[]
  readonly tools?: readonly { readonly function: JsonObject }[]
  readonly [field: string]: unknown
}

function encode(request: Partial<ModelRequest>, overrides: TargetOverrides = {}): { body: Body; dropped: readonly string[] } {
  const encoded = cohereV2.encodeRequest({ input: [user('q')], ...request }, cohereTarget(overrides))
  return { body: JSON.parse(encoded.body) as Body, dropped: encoded.dropped }
}

describe('encoding, by golden file', () => {
  it.each(Object.entries(REQUESTS))('%s', async (name, [request, overrides]) => {
    const { path, body, dropped } = cohereV2.encodeRequest(request, cohereTarget(overrides))
    await expect(`${JSON.stringify({ path, body: JSON.parse(body), dropped }, undefined, 2)}\n`).toMatchFileSnapshot(
      `__fixtures__/requests/${name}.json`,
    )
  })
})

/** Conditions on which the service refuses any conversation. */
function checkRules({ messages }: Body): void {
  let open: string[] = []
  for (const { role, content, tool_call_id: id, tool_calls: calls } of messages) {
    if (role === 'tool') expect(id).toBe(open.shift())
    else expect(open).toEqual([])
    if (calls !== undefined) open = calls.map((call) => call.id)
    else if (role === 'assistant') expect(content).not.toBe('')
    if (role !== 'assistant') expect(content).toBeTruthy()
  }
  expect(open).toEqual([])
  expect(messages.some(({ role }) => role !== 'system')).toBe(true)
}

describe('any conversation', () => {
  const text = fc.constantFrom('a', 'Hello', '')
  const id = fc.constantFrom('a', 'b', 'c:d')
  const item = fc.oneof(
    fc.record({ type: fc.constant('message'), role: fc.constantFrom('user', 'assistant', 'system'), content: text }),
    fc.record({ type: fc.constant('function_call'), call_id: id, name: fc.constantFrom('f', 'g-h'), arguments: fc.constantFrom('', '{"a":1}') }),
    fc.record({
      type: fc.constant('function_call_output'),
      call_id: id,
      output: fc.oneof(text, fc.constant([{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }])),
    }),
  )
  it('obeys the rules of the service', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), (input) => {
        const { body } = encode({ input: input })
        checkRules(body)
        expect(JSON.stringify(body)).not.toContain(':null')
      }),
      { numRuns: 200 },
    )
    for (const [request, overrides] of Object.values(REQUESTS)) checkRules(encode(request, overrides).body)
  })
  it('gives tools names without hyphens, and maps them back', () => {
    const { body } = encode({
      tools: [
        { type: 'function', name: 'get-it' },
        { type: 'function', name: '1st tool' },
      ],
    })
    for (const tool of body.tools ?? []) expect(tool.function['name']).toMatch(/^[a-zA-Z_][a-zA-Z0-9_]*$/)
  })
})

it('the input of a tool is an object, whatever its schema says at its top', () => {
  const a = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const schemas = [{ anyOf: [a, { type: 'object' }] }, { $ref: '#/$defs/A', $defs: { A: a } }, { type: ['object', 'null'] }, a]
  const { body } = encode({ tools: schemas.map((parameters, n) => ({ type: 'function', name: `t${n}`, parameters })) })
  expect(body.tools!.map(({ function: { parameters } }) => parameters)).toEqual([
    { type: 'object', properties: a.properties },
    { ...a, $defs: { A: a } },
    { type: 'object', properties: {} },
    a,
  ])
})

describe('tool choice', () => {
  const tools = [
    { type: 'function', name: 'a' },
    { type: 'function', name: 'b' },
  ]
  it.each<[string, ModelRequest['tool_choice'], unknown, number]>([
    ['auto', 'auto', undefined, 2],
    ['none', 'none', 'NONE', 2],
    ['required', 'required', 'REQUIRED', 2],
    ['one tool', { type: 'function', name: 'b' }, 'REQUIRED', 1],
  ])('%s', (_name, tool_choice, word, count) => {
    const { body } = encode({ tools, ...(tool_choice === undefined ? {} : { tool_choice }) })
    expect(body['tool_choice']).toBe(word)
    expect(body.tools).toHaveLength(count)
  })
  it('is reported where the model has none', () => {
    expect(encode({ tools, tool_choice: 'required' }, { supports: ['tools'] })).toMatchObject({ dropped: ['tool_choice'] })
    expect(encode({ tools, tool_choice: 'none' }, { supports: ['tools'] }).body.tools).toBeUndefined()
  })
})

describe('arguments of past calls', () => {
  it('are JSON, whatever a cut answer left of them', () => {
    const past = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":' } as const
    expect(encode({ input: [user('q'), past] }).body.messages[1]?.tool_calls).toMatchObject([{ function: { arguments: '{"_raw":"{\\"a\\":"}' } }])
  })
})

describe('media', () => {
  it.each<[string, unknown, TargetOverrides]>([
    ['images for a model that reads text', { type: 'input_image', image_url: 'https://a.test/1' }, { model: 'command-r7b' }],
    ['audio', { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }, {}],
    ['video', { type: 'input_video', video_url: 'https://a.test/1' }, {}],
    ['PDF', { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=' }, {}],
    ['files by id', { type: 'input_file', file_id: 'f' }, {}],
  ])('another endpoint may take: %s', (_name, part, overrides) => {
    expect(() => encode({ input: [user([part])] }, overrides)).toThrow(expect.objectContaining({ errorType: 'invalid_prompt', failover: 'next' }))
  })
  it('a request for images is reported as unsupported', () => {
    const encoded = cohereV2.encodeRequest({ input: [user('q')], modalities: ['text', 'image'] }, cohereTarget())
    expect(encoded.dropped).toEqual(['modalities: image'])
  })
  it.each([
    [{ file_data: 'data:text/csv;base64,YSxi' }, true],
    [{ file_data: 'YSxi', filename: 'a.csv' }, true],
    [{ file_url: 'https://a.test/notes' }, true],
    [{ file_data: 'data:application/pdf;base64,JVBERi0=' }, false],
    [{ file_data: 'JVBERi0=', filename: 'a.pdf' }, false],
    [{ file_url: 'https://a.test/a.pdf?x=1' }, false],
  ])('declares beforehand which files it reads: %j', (file, reads) => {
    expect(cohereV2.takesFile?.({ type: 'input_file', ...file }, cohereTarget())).toBe(reads)
  })
  it('lets the gateway fetch remote files, and leaves images to the vendor', () => {
    const input = [
      user([
        { type: 'input_image', image_url: 'https://a.test/1' },
        { type: 'input_file', file_url: 'https://a.test/2' },
      ]),
    ]
    expect(cohereV2.mediaUrls?.({ input }, cohereTarget())).toEqual(['https://a.test/2'])
  })
})
