import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem, OtherItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { geminiTarget } from './__fixtures__/target.ts'
import type { TargetOverrides } from './__fixtures__/target.ts'
import { gemini } from './index.ts'

type Part = { readonly [field: string]: unknown }

const TOOLS: ModelRequest['tools'] = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'patch' },
]
const SIGNED_CALL: Part = { functionCall: { id: 'c1', name: 'f', args: { city: 'Paris' } }, thoughtSignature: 's1' }
const CALL: Part = { functionCall: { id: 'c2', name: 'f', args: {} } }
const THOUGHT: Part = { text: 'Let me think.', thought: true }

/** The items of the contract that a client has after an answer. `thin` clients keep only the parts of reasoning that every client keeps. */
function itemsOf(events: readonly ModelEvent[], thin: boolean): InputItem[] {
  const items = new Map<string, Record<string, unknown>>()
  for (const event of events) {
    if (event.type === 'item-start') items.set(event.key, { ...event.item })
    const item = 'key' in event ? items.get(event.key)! : {}
    if (event.type === 'text-delta')
      item['content'] = [{ type: 'output_text', text: `${(item['content'] as { text: string }[])[0]?.text ?? ''}${event.delta}` }]
    if (event.type === 'reasoning-delta') item['summary'] = [{ type: 'summary_text', text: event.delta }]
    if (event.type === 'arguments-delta') item['arguments'] = (item['arguments'] as string) + event.delta
    if (event.type === 'item-end') Object.assign(item, event.item)
  }
  return [...items.values()].map((item): InputItem => {
    if (item['type'] !== 'reasoning' || !thin) return item as OtherItem
    return { type: 'reasoning', id: 'rs_1', summary: item['summary'] as [], encrypted_content: item['encrypted_content'] as string }
  })
}

interface Client {
  readonly thin?: boolean
  /** Chat Completions and its clients have one place for all thoughts of a message. */
  readonly thoughtsFirst?: boolean
  readonly to?: TargetOverrides
}

/** The model's parts after they were sent as events and came back as history. */
function sentBack(parts: readonly Part[], { thin = false, thoughtsFirst = false, to = {} }: Client = {}): unknown {
  const out: ModelEvent[] = []
  const decoder = gemini.decoder({ input: [], tools: TOOLS }, geminiTarget(to.model === undefined ? {} : { model: to.model }))
  for (const part of parts) decoder.push(JSON.stringify({ candidates: [{ content: { parts: [part] } }] }), undefined, out)
  decoder.push('{"candidates":[{"finishReason":"STOP"}]}', undefined, out)
  decoder.end(out)
  const said = itemsOf(out, thin)
  const isThought = ({ type }: InputItem): boolean => type === 'reasoning'
  const answer = thoughtsFirst ? [...said.filter(isThought), ...said.filter((item) => !isThought(item))] : said
  const results = answer.flatMap((item): InputItem[] =>
    item.type === 'function_call' ? [{ type: 'function_call_output', call_id: String((item as OtherItem)['call_id']), output: 'ok' }] : [],
  )
  const question: InputItem = {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: 'q' },
      { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
    ],
  }
  const { body } = gemini.encodeRequest(
    { input: [question, ...answer, ...results, { type: 'message', role: 'user', content: 'next' }], tools: TOOLS },
    geminiTarget(to),
  )
  return (JSON.parse(body) as { contents: { parts: Part[] }[] }).contents[1]!.parts
}

describe('a model turn is sent back as it came, apart from reasoning text', () => {
  it.each<[string, Part[]]>([
    ['parallel calls after thoughts', [THOUGHT, SIGNED_CALL, CALL]],
    ['text and calls', [{ text: 'First I look.' }, SIGNED_CALL, CALL]],
    ['a signed text', [{ text: 'Hello', thoughtSignature: 's2' }]],
    ['a text whose signature came behind it', [{ text: 'Hello' }, { text: '', thoughtSignature: 's2' }]],
    ['text, its signature, a signed call', [{ text: 'Hello' }, { text: '', thoughtSignature: 's2' }, SIGNED_CALL]],
    ['a call and a signature behind it', [SIGNED_CALL, { text: '', thoughtSignature: 's2' }]],
    [
      'code with its result',
      [
        { executableCode: { id: 'e', language: 'PYTHON', code: '1' }, thoughtSignature: 's3' },
        { codeExecutionResult: { id: 'e', outcome: 'OUTCOME_OK', output: '1' } },
        { text: 'One.', thoughtSignature: 's4' },
      ],
    ],
    [
      'steps of native tools',
      [
        { toolCall: { toolType: 'X', id: 't' }, thoughtSignature: 's5' },
        { toolResponse: { toolType: 'X', id: 't', response: { n: 1 } } },
        SIGNED_CALL,
      ],
    ],
  ])('%s', (_name, parts) => {
    const spoken = parts.filter((part) => part['thought'] !== true)
    expect(sentBack(parts)).toEqual(spoken)
    expect(sentBack(parts, { thin: true })).toEqual(spoken)
  })
  it.each<[string, Part[]]>([
    ['a call after words', [{ text: 'First I look.' }, SIGNED_CALL, CALL]],
    ['a call after thoughts and words', [THOUGHT, { text: 'First I look.' }, SIGNED_CALL]],
    ['a signed text and a signed call', [{ text: 'Hello', thoughtSignature: 's2' }, SIGNED_CALL]],
    ['calls that are all signed', [{ text: 'Hello' }, SIGNED_CALL, { ...CALL, thoughtSignature: 's4' }]],
  ])('%s, also where a client puts all thoughts first', (_name, parts) => {
    const spoken = parts.filter((part) => part['thought'] !== true)
    expect(sentBack(parts, { thoughtsFirst: true })).toEqual(spoken)
    expect(sentBack(parts, { thin: true, thoughtsFirst: true })).toEqual(spoken)
  })
  it('images, to the models that make them', () => {
    const parts = [
      { text: 'Here:', thoughtSignature: 's1' },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thoughtSignature: 's2' },
    ]
    expect(sentBack(parts, { to: { model: 'gemini-3-pro-image-preview' } })).toEqual(parts)
    expect(sentBack(parts)).toEqual([parts[0], { text: '', thoughtSignature: 's2' }])
  })
  it('signatures are not sent when the history goes to another vendor', () => {
    const there = JSON.stringify(sentBack([THOUGHT, SIGNED_CALL, CALL], { to: { scope: 'another account' } }))
    expect(there).not.toContain('"s1"')
    expect(there).toContain(Buffer.from('skip_thought_signature_validator').toString('base64'))
  })
})
