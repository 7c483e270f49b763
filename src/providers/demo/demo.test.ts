import { describe, expect, test } from 'vitest'
import type { SignableRequest } from '../../core/provider.ts'
import { demo } from './index.ts'
import { DEMO_MODELS } from './script.ts'
import { createDemoTransport } from './transport.ts'

type Body = { readonly [key: string]: unknown }

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } }, required: ['city', 'days'] },
  },
}

function request(body: Body): SignableRequest {
  return { method: 'POST', url: 'http://demo.invalid/v1/chat/completions', path: '/chat/completions', headers: {}, body: JSON.stringify(body) }
}
const ask = (model: string, text: string, more: Body = {}): Body => ({ model, messages: [{ role: 'user', content: text }], ...more })

async function send(body: Body, signal = new AbortController().signal) {
  const answer = await createDemoTransport()(request(body), signal)
  const reads: string[] = []
  for await (const bytes of answer.body) reads.push(bytes.toString())
  return { ...answer, reads, text: reads.join('') }
}

async function stream(body: Body) {
  const { reads } = await send({ ...body, stream: true })
  const data = reads
    .join('')
    .split('\n\n')
    .filter(Boolean)
    .map((line) => line.slice('data: '.length))
  expect(data.at(-1)).toBe('[DONE]')
  const chunks = data.slice(0, -1).map((line) => JSON.parse(line) as Chunk)
  const deltas = chunks.flatMap((chunk) => chunk.choices)
  return {
    reads,
    text: deltas.map((choice) => choice.delta.content ?? '').join(''),
    reasoning: deltas.map((choice) => choice.delta.reasoning_content ?? '').join(''),
    calls: deltas.flatMap((choice) => choice.delta.tool_calls ?? []),
    finish: deltas.map((choice) => choice.finish_reason).filter((reason) => reason !== null),
    usage: chunks.at(-1)?.usage,
  }
}
interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string
      readonly reasoning_content?: string
      readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
    }
    readonly finish_reason: string | null
  }[]
  readonly usage?: Body
}

describe('the demo provider', () => {
  test.each([true, false])('yields to others during a long answer, and stops when its caller has gone (stream: %s)', async (streams) => {
    const caller = new AbortController()
    setImmediate(() => caller.abort())
    await expect(send(ask('echo', 'word '.repeat(2_000), { stream: streams }), caller.signal)).rejects.toThrow('aborted')
  })

  test('labels every model as simulated', () => {
    for (const model of demo.models?.list ?? []) {
      expect(model.name).toContain('(simulated)')
      expect(model.description).toMatch(/^Simulated: /)
    }
    expect(demo.models?.list?.map((model) => model.slug)).toEqual(
      expect.arrayContaining([
        'demo/echo',
        'demo/slow',
        'demo/error-429',
        'demo/error-500',
        'demo/cut',
        'demo/tool',
        'demo/reason',
        'demo/silent',
        'demo/json',
      ]),
    )
  })

  test('gives the same answer to the same request', async () => {
    const body = ask('echo', 'hello there')
    expect((await send(body)).text).toBe((await send(body)).text)
  })
})

describe('demo/echo', () => {
  test.each(['hello', 'two  words\n', '  lead', 'línea 🎉 end', ' '])('streams %j back word by word', async (text) => {
    const answer = await stream(ask('echo', text))
    expect(answer.text).toBe(text)
    expect(answer.finish).toEqual(['stop'])
    expect(answer.reads.length).toBe((text.match(/\S+/g) ?? []).length + (/\s$/.test(text) ? 1 : 0) + 1)
  })

  test('reads the last user message, also from parts', async () => {
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'x' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'second' },
          { type: 'image_url', image_url: { url: 'x' } },
        ],
      },
    ]
    expect((await stream({ model: 'echo', messages })).text).toBe('second')
  })

  test('answers as JSON with the same text and usage', async () => {
    const body = ask('echo', 'one two three')
    const whole = JSON.parse((await send(body)).text) as { choices: { message: Body; finish_reason: string }[]; usage: Body }
    const streamed = await stream(body)
    expect(whole.choices[0]).toMatchObject({ message: { content: 'one two three' }, finish_reason: 'stop' })
    expect(whole.usage).toEqual(streamed.usage)
    expect(whole.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 })
  })

  test.each(['max_tokens', 'max_completion_tokens'])('honours %s', async (name) => {
    const answer = await stream(ask('echo', 'one two three', { [name]: 2 }))
    expect(answer).toMatchObject({ text: 'one two', finish: ['length'], usage: { completion_tokens: 2 } })
  })

  test('says so when there is nothing to echo', async () => {
    expect((await stream({ model: 'echo', messages: [] })).text).toContain('(simulated)')
  })
})

describe('scripted behaviour', () => {
  test.each([400, 429, 500, 529])('demo/error-%d answers with its status', async (status) => {
    const answer = await send(ask(`error-${status}`, 'x'))
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: status } })
    expect(answer.headers['retry-after']).toBe(status === 429 ? '1' : undefined)
  })

  test('demo/cut dies in the middle of its text', async () => {
    const answer = await createDemoTransport()(request(ask('cut', 'a b c d', { stream: true })), new AbortController().signal)
    const reads: string[] = []
    await expect(async () => {
      for await (const bytes of answer.body) reads.push(bytes.toString())
    }).rejects.toThrow('cut')
    expect(reads.join('')).toContain('" b"')
    expect(reads.join('')).not.toMatch(/" c"|finish_reason":"/)
  })

  test('demo/tool calls the first tool, then reports its result', async () => {
    const first = await stream(ask('tool', 'weather?', { tools: [WEATHER] }))
    expect(first.finish).toEqual(['tool_calls'])
    expect(first.calls).toHaveLength(1)
    expect(first.calls[0]?.function.name).toBe('get_weather')
    expect(JSON.parse(first.calls[0]?.function.arguments ?? '')).toEqual({ city: 'example', days: 2 })
    const messages = [
      { role: 'user', content: 'weather?' },
      { role: 'assistant', tool_calls: first.calls },
      { role: 'tool', tool_call_id: 'x', content: 'sunny' },
    ]
    expect(await stream({ model: 'tool', messages, tools: [WEATHER] })).toMatchObject({
      text: '(simulated) The tool answered: sunny',
      finish: ['stop'],
      calls: [],
    })
  })

  test('demo/tool calls the tool of tool_choice, or none', async () => {
    const other = { type: 'function', function: { name: 'other', parameters: {} } }
    const chosen = await stream(ask('tool', 'x', { tools: [WEATHER, other], tool_choice: { type: 'function', function: { name: 'other' } } }))
    expect(chosen.calls.map((call) => call.function)).toEqual([{ name: 'other', arguments: '{}' }])
    expect((await stream(ask('tool', 'x', { tools: [WEATHER], tool_choice: 'none' }))).calls).toEqual([])
  })

  test('demo/reason thinks, then answers', async () => {
    const answer = await stream(ask('reason', 'hi'))
    expect(answer.reasoning).toContain('(simulated)')
    expect(answer.text).toBe('hi')
    expect(answer.usage).toMatchObject({ completion_tokens_details: { reasoning_tokens: answer.reasoning.split(' ').length } })
    expect((await stream(ask('reason', 'hi', { reasoning_effort: 'none' }))).reasoning).toBe('')
  })

  test('demo/json fits the schema it is given', async () => {
    const schema = {
      type: 'object',
      properties: {
        colour: { enum: ['red', 'blue'] },
        when: { type: 'string', format: 'date' },
        sizes: { type: 'array', items: { type: 'number' } },
      },
    }
    const answer = await stream(ask('json', 'x', { response_format: { type: 'json_schema', json_schema: { name: 's', schema } } }))
    expect(JSON.parse(answer.text)).toEqual({ colour: 'red', when: '2025-01-01', sizes: [1] })
    expect(JSON.parse((await stream(ask('json', 'x'))).text)).toEqual({ echo: 'x' })
  })

  test('an unknown model is 404', async () => expect((await send(ask('nope', 'x'))).status).toBe(404))
})

describe('abort', () => {
  test.each(['silent', 'slow'])('ends demo/%s', async (model) => {
    const controller = new AbortController()
    const pending = send(ask(model, 'x', { stream: true }), controller.signal)
    setTimeout(() => controller.abort(new Error('gone')), 5)
    await expect(pending).rejects.toThrow()
  })

  test('demo/slow waits before the first word and between words', async () => {
    const slow = DEMO_MODELS.find((model) => model.id === 'slow')
    const beats = slow?.play?.({
      model: 'slow',
      stream: true,
      lastUserText: 'a b',
      toolResults: [],
      tool: undefined,
      schema: undefined,
      reasons: true,
      maxTokens: Infinity,
      promptTokens: 1,
    })
    expect(beats?.map((beat) => beat.type)).toEqual(['wait', 'text', 'wait', 'text', 'wait'])
  })
})
