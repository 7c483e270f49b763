import { expect, it } from 'vitest'
import type { ModelEvent } from '../../core/event.ts'
import { listSteps } from '../../testing/list-steps.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { ChatDecoder } from './stream.ts'

const logprobs = { content: [{ token: 'x', logprob: -0.1, bytes: [120], top_logprobs: [] }], refusal: null }
const chunk = (delta: object, more: object = {}): object => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: null, ...more }] })
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }

/** `target` keeps the frame shapes that earlier answers taught. */
function textsOf(frames: readonly object[], target: ReturnType<typeof chatTarget>, fastPath: boolean): readonly (readonly [string, boolean])[] {
  const decoder = new ChatDecoder({ input: [] }, target, fastPath)
  const out: ModelEvent[] = []
  for (const frame of frames) decoder.push(JSON.stringify(frame), undefined, out)
  decoder.push('[DONE]', undefined, out)
  decoder.end(out)
  return out.flatMap((event) => (event.type === 'text-delta' ? [[event.delta, event.logprobs !== undefined] as const] : []))
}

it.each([
  ['a refusal', { refusal: 'no' }],
  ['a call', { tool_calls: [call] }],
  ['thoughts', { reasoning: 'hm' }],
  ['nothing', {}],
])('log probabilities of %s are not those of the text that follows, however it is read', (_, delta) => {
  const end = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const plain = [chunk({ content: 'one' }), chunk({ content: 'two' }), chunk({ content: 'three' }), end]
  const frames = [chunk({ role: 'assistant' }), chunk(delta, { logprobs }), chunk({ content: 'four' }), chunk({ content: 'five' }), end]
  for (const fastPath of [true, false]) {
    const target = chatTarget()
    textsOf(plain, target, fastPath)
    expect(textsOf(frames, target, fastPath)).toEqual([
      ['four', false],
      ['five', false],
    ])
  }
})

const token = (text: string) => ({ token: text, logprob: -0.1, bytes: [...Buffer.from(text)], top_logprobs: [] })
/** Each text piece with the log probabilities of its own token; other pieces (thoughts) stay unchanged. */
const answer = (...pieces: (string | object)[]): object[] => [
  ...pieces.map((piece) => (typeof piece === 'string' ? chunk({ content: piece }, { logprobs: { content: [token(piece)] } }) : chunk(piece))),
  { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
]

it.each([
  ['white space', ['\n', '\n', 'Hi', '!'], ['\n\nHi', '!'], ['\n', '\n', 'Hi', '!']],
  ['the beginning of what might be a tag', ['[', '1', ']'], ['[1', ']'], ['[', '1', ']']],
  ['the beginning of one, and nothing more', ['<'], ['<'], ['<']],
  ['the beginning of one, before a call', ['<', { tool_calls: [call] }], ['<'], ['<']],
  ['a tag and what is thought', ['<', 'think>', 'hm', '</think>', '\n', 'Hi'], ['Hi'], ['Hi']],
  ['a tag and no thoughts', ['<think>', '\n', '</think>', '\n\n', '<', 'b>'], ['<b>'], ['<', 'b>']],
])('log probabilities of text that is held back come with it: %s', (_, pieces, texts, tokens) => {
  for (const fastPath of [true, false]) {
    const decoder = new ChatDecoder({ input: [] }, chatTarget(), fastPath)
    const out: ModelEvent[] = []
    for (const frame of answer(...pieces)) decoder.push(JSON.stringify(frame), undefined, out)
    decoder.push('[DONE]', undefined, out)
    const told = out.filter((event) => event.type === 'text-delta')
    expect(told.map(({ delta }) => delta)).toEqual(texts)
    expect(told.flatMap((event) => event.logprobs ?? []).map((each) => each.token)).toEqual(tokens)
  }
})

it('those of blanks at the start, which are held back, are kept without copying them at each', () => {
  const count = 200
  const blanks = Array.from({ length: count }, () => chunk({ content: ' ' }, { logprobs: { content: [token(' ')] } }))
  const frames = [...blanks, chunk({ content: 'x' }, { logprobs: { content: [token('x')] } })].map((frame) => JSON.stringify(frame))
  const decoder = new ChatDecoder({ input: [] }, chatTarget())
  const out: ModelEvent[] = []
  expect(listSteps(() => frames.forEach((frame) => decoder.push(frame, undefined, out)))).toBeLessThan(count * 30)
  expect(out.flatMap((event) => (event.type === 'text-delta' ? [event.logprobs?.length] : []))).toEqual([count + 1])
})

it('bytes of a token that are no whole numbers are left out, because clients that check events lose the text with them', () => {
  const odd = { token: 'x', logprob: -0.1, bytes: [120, 1.5, null] }
  const decoder = new ChatDecoder({ input: [] }, chatTarget())
  const out: ModelEvent[] = []
  decoder.push(JSON.stringify(chunk({ content: 'x' }, { logprobs: { content: [{ ...odd, top_logprobs: [odd] }] } })), undefined, out)
  const read = { ...odd, bytes: [120] }
  expect(out).toContainEqual(expect.objectContaining({ type: 'text-delta', logprobs: [{ ...read, top_logprobs: [read] }] }))
})
