import { describe, expect, it } from 'vitest'
import { sealReasoning } from '../core/reasoning-envelope.ts'
import type { ModelRequest } from '../core/request.ts'
import { modalityBit } from './columns.ts'
import { fastestOf } from '../testing/fastest-of.ts'
import { estimateRequest, textTokens } from './estimate.ts'
import { verifies } from '../../e2e/requirements.ts'

const of = (request: Partial<ModelRequest>): ReturnType<typeof estimateRequest> => estimateRequest({ input: [], ...request })

describe('textTokens', () => {
  it('counts a token per four characters of English and fewer characters of other scripts', () => {
    expect(textTokens('abcd')).toBe(1)
    expect(textTokens('')).toBe(0)
    expect(textTokens('Добрый день')).toBeGreaterThan(3)
    expect(textTokens('今天天气很好')).toBeCloseTo(4.5)
  })
  it('samples long text: a megabyte costs no more than a page', () => {
    const text = 'The quick brown fox. '.repeat(50_000)
    const page = text.slice(0, 1_000)
    expect(fastestOf(() => textTokens(text), 200)).toBeLessThan(50 * fastestOf(() => textTokens(page), 200))
    expect(textTokens(text)).toBeCloseTo(text.length / 4, -3)
  })
})

describe('estimateRequest', () => {
  it('adds instructions, items, tools and schemas', () => {
    const message = of({ input: [{ type: 'message', role: 'user', content: 'x'.repeat(400) }] }).inputTokens
    expect(message).toBe(104)
    expect(of({ instructions: 'x'.repeat(400) }).inputTokens).toBe(104)
    expect(of({ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: 'x'.repeat(400) }] }).inputTokens).toBeGreaterThanOrEqual(104)
    expect(
      of({ tools: [{ type: 'function', name: 'f', description: 'x'.repeat(400), parameters: { type: 'object' } }] }).inputTokens,
    ).toBeGreaterThan(100)
    expect(
      of({ text: { format: { type: 'json_schema', name: 'n', schema: { properties: { long: { description: 'x'.repeat(400) } } } } } }).inputTokens,
    ).toBeGreaterThan(100)
  })
  it('estimates each text of an embeddings request separately, because each has the window to itself', () => {
    const said = (content: string): ModelRequest['input'][number] => ({ type: 'message', role: 'user', content })
    const input = [said('x'.repeat(400)), said('x'.repeat(4_000)), { type: 'input_tokens', tokens: Array.from({ length: 300 }, () => 7) }]
    const { inputTokens, longest } = of({ modalities: ['embeddings'], input })
    expect(inputTokens).toBeGreaterThan(1_350)
    expect(longest).toEqual({ inputTokens: 1_004, leastTokens: 502 })
    expect(of({ input })).not.toHaveProperty('longest')
  })

  it('counts tokens that the caller has cut himself', () => {
    const estimate = (tokens: unknown) =>
      estimateRequest({
        modalities: ['embeddings'],
        input: [
          { type: 'input_tokens', tokens },
          { type: 'input_tokens', tokens: [1] },
        ],
      })
    const { inputTokens, longest } = estimate(Array.from({ length: 1_000 }, () => 100_000))
    expect(inputTokens).toBe(1_009)
    expect(longest).toEqual({ inputTokens: 1_004, leastTokens: 502 })
    expect(estimate('x'.repeat(400)).inputTokens).toBeGreaterThan(100)
  })

  it(verifies('P8', 'never reads media: the cost does not depend on its bytes'), () => {
    const data = 'A'.repeat(4_000_000)
    const image = of({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }] }] })
    expect(image.inputTokens).toBeLessThan(1_000)
    expect(image.leastTokens).toBeLessThan(10)
    expect(image.inputs).toBe(modalityBit('image'))
    const file = of({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_file', file_data: data }] }] })
    expect(file.inputTokens).toBeLessThanOrEqual(50_010)
    const unknown = of({ input: [{ type: 'strange', blob: `data:application/pdf;base64,${data}` }] })
    expect(unknown.inputTokens).toBeLessThan(50)
    expect(of({ input: [{ type: 'strange', blob: `DATA:application/pdf;base64,${data}` }] }).inputTokens).toBeLessThan(50)
  })
  it('counts text wherever a request may put it', () => {
    const long = 'x '.repeat(200_000)
    const minted = { format: 'unknown', scope: 's' }
    const nested = (value: unknown, levels: number): object => {
      let inner: unknown = value
      for (let level = 0; level < levels; level++) inner = { not: inner }
      return inner as object
    }
    const tool = (parameters: object, description = 'd'): Partial<ModelRequest> => ({
      tools: [{ type: 'function', name: 'f', description, parameters }],
    })
    for (const request of [
      tool({}, `data:${long}`),
      tool({}, `data:text/plain;base64,${long}`),
      tool({ enum: Array.from({ length: 5_000 }, () => 1), description: long }),
      tool({ enum: Array.from({ length: 100_000 }, () => 'abcd') }),
      tool(nested(long, 200)),
      tool({ examples: [{ data: long, image_url: `data:image/png;base64,${long}` }] }),
      { text: { format: { type: 'json_schema', name: 'n', description: long, schema: {} } } },
      { prompt: { id: 'p', variables: { data: long } } },
      { prompt: { id: 'p', variables: { a: { type: 'input_text', text: long } } } },
      { input: [{ type: 'local_shell_call_output', output: `data:text/plain;base64,${long}` }] },
      { input: [{ type: 'reasoning', summary: [], encrypted_content: sealReasoning({ ...minted, text: long }) }] },
      { input: [{ type: 'reasoning', summary: [], encrypted_content: sealReasoning({ ...minted, data: JSON.stringify([{ text: long }]) }) }] },
      { input: [{ type: 'web_search_call', encrypted_content: sealReasoning({ ...minted, data: JSON.stringify([{ text: long }]) }) }] },
      { input: [{ type: 'reasoning', content: [], summary: [{ type: 'summary_text', text: long }] }] },
    ] as readonly Partial<ModelRequest>[]) {
      expect(of(request).inputTokens).toBeGreaterThan(90_000)
    }
  })
  it('does not take bytes for text', () => {
    const bytes = 'A'.repeat(4_000_000)
    for (const item of [
      { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: '' },
      { type: 'gateway:image_generation', id: 'ig_1', imageB64: bytes },
      { type: 'compaction', encrypted_content: bytes },
      { type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'unknown', scope: 's', data: bytes }) },
    ])
      expect(of({ input: [item] }).inputTokens).toBeLessThan(50)
  })
  it('counts a picture that a model drew like one that it was given, unless the endpoint did not get it', () => {
    const drawn: Partial<ModelRequest> = {
      input: [{ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'A'.repeat(4_000_000) }],
    }
    const given = of({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] })
    expect(of(drawn).inputTokens - given.inputTokens).toBeGreaterThanOrEqual(0)
    expect(of(drawn)).toMatchObject({ inputs: 0, leastTokens: expect.toSatisfy((least: number) => least < 20) })
    expect(of(drawn).inputTokens).toBeLessThan(given.inputTokens + 50)
    expect(estimateRequest({ input: [], ...drawn }, ['temperature', 'input: image_generation_call']).inputTokens).toBe(0)
  })
  it('collects the media kinds of messages and tool outputs', () => {
    const { inputs } = of({
      input: [
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'x' }] },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'input_video', video_url: 'x' },
          ],
        },
      ],
    })
    expect(inputs).toBe(modalityBit('image') | modalityBit('audio') | modalityBit('video'))
  })
  it.each([
    ['an image', { type: 'input_image', image_url: 'x' }, { tokens: 600 }],
    ['an image in low detail', { type: 'input_image', detail: 'low', image_url: 'x' }, { tokens: 85 }],
    [
      'audio, by its length and also apart',
      { type: 'input_audio', input_audio: { data: 'A'.repeat(15_000), format: 'wav' } },
      { tokens: 10, audio: 10 },
    ],
    ['a file, by its length', { type: 'input_file', file_data: 'A'.repeat(6_000) }, { tokens: 100 }],
    ['a large file, which vendors shorten', { type: 'input_file', file_data: 'A'.repeat(6_000_000) }, { tokens: 50_000 }],
    ['a file by its address', { type: 'input_file', file_url: 'https://x.example/f' }, { tokens: 0 }],
    ['a video', { type: 'input_video', video_url: 'x' }, { tokens: 4_000 }],
  ] as const)('counts %s', (_, part, { tokens, audio }: { readonly tokens: number; readonly audio?: number }) => {
    const estimate = (content: readonly unknown[]) => of({ input: [{ type: 'message', role: 'user', content: content as never }] })
    const [without, { inputTokens, audioTokens }] = [estimate([]), estimate([part])]
    expect({ tokens: inputTokens - without.inputTokens, audio: audioTokens }).toEqual({ tokens, audio })
  })
  it('survives values of any shape', () => {
    let deep: unknown = 'end'
    for (let n = 0; n < 10_000; n++) deep = [deep]
    expect(
      of({
        input: [
          { type: 'odd', deep },
          { type: 'message', role: 'user', content: null as never },
          { type: 'message', role: 'user', content: [null as never] },
        ],
      }).inputTokens,
    ).toBeGreaterThan(0)
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))
    // 100,000 values of two to four tokens each, in no more time than reading them takes.
    const tools = [{ type: 'function', name: 'f', parameters: wide }]
    expect(of({ tools }).inputTokens).toBeGreaterThan(200_000)
    expect(of({ tools }).inputTokens).toBeLessThan(400_000)
  })
})
