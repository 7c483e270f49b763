import { describe, expect, it } from 'vitest'
import type { Parameter } from '../core/capability.ts'
import type { Decoder, Dialect, Target } from '../core/dialect.ts'
import { GatewayError, isGatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { createAwsEventStreamParser, EventStreamError } from '../lib/aws-event-stream.ts'
import { createSseParser } from '../lib/sse.ts'
import { describeContentContract } from './content-contract.ts'
import { checkEventBalance, foldEvents } from './event-balance.ts'
import { FEATURES, tool, user } from './request-features.ts'
import { checkTurns } from './vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from './voices/voice.ts'

const ALL: readonly Parameter[] = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'include_reasoning',
  'reasoning_effort',
  'logprobs',
  'top_logprobs',
  'verbosity',
]

const ANSWER: ScriptedAnswer = {
  reasoning: { text: 'Two "places".', secret: 'c2VjcmV0IG9mIHRoZSB2ZW5kb3I=' },
  text: 'Grüße 🎉 from there.',
  calls: [
    { id: 'call_vendor_1', name: 'f', arguments: '{"x":"Å"}' },
    { id: 'call_vendor_2', name: 'g', arguments: '{}' },
  ],
}
const TEXT: ScriptedAnswer = { text: 'Just a plain text, in some pieces.' }
const REQUEST: ModelRequest = { input: [user('q')], tools: [tool('f'), tool('g')], reasoning: { effort: 'low' } }

/** Error answers every vendor may give, and what they have to be taken for. */
const ERRORS: readonly (readonly [status: number, body: string, types: readonly string[], to: 'model' | 'endpoint'])[] = [
  [400, '{"error":{"message":"bad","type":"invalid_request_error"}}', ['invalid_request'], 'model'],
  [401, '{"message":"Unauthorized"}', ['authentication'], 'endpoint'],
  [402, '', ['payment_required'], 'endpoint'],
  [403, '{"message":"forbidden"}', ['permission_denied'], 'endpoint'],
  [404, '{"message":"no such model"}', ['not_found'], 'endpoint'],
  [408, '', ['timeout'], 'endpoint'],
  [413, '', ['payload_too_large'], 'endpoint'],
  [429, '{"message":"slow down"}', ['rate_limit_exceeded'], 'endpoint'],
  [500, '<html><body>oops</body></html>', ['provider_unavailable'], 'endpoint'],
  [502, '', ['provider_unavailable'], 'endpoint'],
  [503, 'busy', ['provider_overloaded'], 'endpoint'],
  [529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', ['provider_overloaded'], 'endpoint'],
]

function targetOf(dialect: Dialect, voice: VendorVoice, more: Partial<Target> = {}): Target {
  return {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: voice.model,
    options: dialect.options.parse(voice.options),
    supports: new Set(ALL),
    contextLength: 200_000,
    maxOutputTokens: 64_000,
    scope: 'acme',
    stream: true,
    ...more,
  }
}

/** What every dialect keeps to, whatever its format. `voice` is that format, written down a second time. */
export function describeDialectContract(dialect: Dialect, voice: VendorVoice): void {
  const target = targetOf(dialect, voice)
  const feed = (decoder: Decoder, bytes: Buffer, cut: number, out: ModelEvent[]): void => {
    const create = dialect.framing === 'sse' ? createSseParser : createAwsEventStreamParser
    const parser = create((data, event) => {
      if (!decoder.finished) decoder.push(data, event, out)
    })
    for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
    parser.end()
    if (!decoder.finished) decoder.end(out)
  }
  const stream = (answer: ScriptedAnswer, request = REQUEST, cut = Number.MAX_SAFE_INTEGER): ModelEvent[] => {
    const out: ModelEvent[] = []
    feed(dialect.decoder(request, target), Buffer.concat(voice.stream(answer)), cut, out)
    checkEventBalance(out)
    return out
  }

  describe('requests', () => {
    it.each(Object.entries(FEATURES))('encode %s', (_name, feature) => {
      for (const streamed of [true, false]) {
        const request = { input: [user('q')], ...feature }
        const encoded = dialect.encodeRequest(request, { ...target, stream: streamed })
        expect(encoded.path).toMatch(/^\/[^\s#]*$/)
        expect(encoded.body).not.toMatch(/:null[,}]|foreign-|sb1\./)
        const body = JSON.parse(encoded.body) as { readonly [field: string]: unknown }
        checkTurns(voice.turns(body))
        expect(encoded.dropped.every((note) => note !== '')).toBe(true)
        expect(dialect.encodeRequest(request, { ...target, stream: streamed })).toEqual(encoded)
      }
    })
    it('name what an endpoint without the parameter does not get', () => {
      const { body, dropped } = dialect.encodeRequest(
        { input: [user('q')], tools: [tool('f')], temperature: 0.5 },
        { ...target, supports: new Set() },
      )
      expect(dropped).toEqual(expect.arrayContaining(['tools', 'temperature']))
      expect(body).not.toContain('temperature')
    })
    it('ask for log probabilities in either way, or name them', () => {
      for (const ask of [{ top_logprobs: 2 }, { include: ['message.output_text.logprobs'] }] as const)
        for (const supports of [new Set(ALL), new Set<Parameter>()]) {
          const { body, dropped } = dialect.encodeRequest({ input: [user('q')], ...ask }, { ...target, supports })
          expect(/logprobs/i.test(body) || dropped.some((note) => note.includes('logprobs'))).toBe(true)
        }
    })
    describe('ask for the service tier', () => {
      const encode = (asked: ModelRequest['service_tier'], tier?: Target['tier']): { readonly word: unknown; readonly dropped: boolean } => {
        const own = tier === undefined ? target : { ...target, tier }
        const encoded = dialect.encodeRequest({ input: [user('q')], ...(asked === undefined ? {} : { service_tier: asked }) }, own)
        return { word: voice.tier(JSON.parse(encoded.body)), dropped: encoded.dropped.includes('service_tier') }
      }
      it.each(['flex', 'priority'] as const)('%s of an endpoint that stands for it, whatever was asked, or name it as dropped', (tier) => {
        const word = voice.tiers[tier]
        for (const asked of [undefined, null, 'auto', 'default', tier] as const)
          expect(encode(asked, tier)).toEqual({ word, dropped: word === undefined })
        const other = tier === 'flex' ? 'priority' : 'flex'
        expect(encode(other, tier)).toEqual({ word, dropped: true })
      })
      it.each(['flex', 'priority', 'fast'] as const)('default of an endpoint beside those of tiers, and name %s as dropped', (asked) => {
        const { word, dropped } = encode(asked, 'default')
        expect([undefined, voice.tiers.default]).toContain(word)
        expect(dropped).toBe(true)
        expect(encode(undefined, 'default')).toEqual({ word, dropped: false })
      })
      it('of the caller where nothing is known of tiers, or name it as dropped', () => {
        expect(encode(undefined)).toEqual({ word: undefined, dropped: false })
        for (const asked of ['flex', 'priority'] as const) {
          const { word, dropped } = encode(asked)
          expect(word).toBe(dropped ? undefined : voice.tiers[asked])
        }
        expect(encode('fast')).toEqual(encode('priority'))
      })
    })
    it('do not hold the credentials of anyone', () => {
      const { headers } = dialect.encodeRequest(REQUEST, target)
      expect(Object.keys(headers).filter((name) => /auth|key|token/i.test(name))).toEqual([])
    })
  })

  describeContentContract(dialect, target)

  describe('tools', () => {
    it('come back under the names of the caller, free-form ones with their input', () => {
      const names = ['plain', 'with-hyphen', 'with space/and:more', 'x'.repeat(80), '1st']
      const request: ModelRequest = { input: [user('q')], tools: [...names.map(tool), { type: 'custom', name: 'apply patch' }] }
      const past: InputItem[] = [...names, 'apply patch'].flatMap((name, at): InputItem[] => [
        name === 'apply patch'
          ? { type: 'custom_tool_call', call_id: `id:${at}`, name, input: 'x' }
          : { type: 'function_call', call_id: `id:${at}`, name, arguments: '{}' },
        { type: name === 'apply patch' ? 'custom_tool_call_output' : 'function_call_output', call_id: `id:${at}`, output: 'ok' },
      ])
      const body = dialect.encodeRequest({ ...request, input: [user('q'), ...past] }, target).body
      const found = [...new Set([...body.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name!))].filter(
        (name) => !/^(n|structured_answer)$/.test(name),
      )
      const back = found.map((name) => {
        const answer = { calls: [{ id: 'c', name, arguments: '{"input":"some text"}' }] }
        return foldEvents(stream(answer, request)).calls[0]!
      })
      expect(new Set(back.map(({ name }) => name))).toEqual(new Set([...names, 'apply patch']))
      const custom = back.find(({ name }) => name === 'apply patch')
      // A format with free-form tools of its own takes the text as it is.
      expect(custom?.type === 'custom_tool_call' ? custom.text : 'some text').toBe('some text')
    })
    it('keep call and result together under ids of any form', () => {
      for (const id of ['a', 'call_1234567890', 'with:colon', 'x'.repeat(100), 'ü']) {
        const input: InputItem[] = [
          user('q'),
          { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: id, output: 'ok' },
        ]
        const turns = voice.turns(JSON.parse(dialect.encodeRequest({ input, tools: [tool('f')] }, target).body))
        checkTurns(turns)
        expect(turns.flatMap(({ results }) => results)).toHaveLength(1)
      }
    })
  })

  describe('answers', () => {
    it('say what the vendor said', () => {
      const folded = foldEvents(stream(ANSWER))
      expect(folded.text).toBe(ANSWER.text)
      expect(folded.reasoning).toContain(ANSWER.reasoning!.text)
      expect(folded.calls.map(({ name, text }) => ({ name, arguments: JSON.parse(text) as unknown }))).toEqual(
        ANSWER.calls!.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) as unknown })),
      )
    })
    it('count the same everywhere', () => {
      const end = stream(ANSWER).at(-1)
      expect(end).toMatchObject({
        type: 'response-end',
        reason: 'tool_calls',
        usage: { inputTokens: 30, cachedTokens: 10, cacheWriteTokens: 0, outputTokens: 12, totalTokens: 42 },
      })
      expect(stream(TEXT).at(-1)).toMatchObject({ reason: 'stop' })
    })
    it('are the same as one body', () => {
      const out: ModelEvent[] = []
      const decoder = dialect.decoder(REQUEST, { ...target, stream: false })
      decoder.body(voice.json(ANSWER), out)
      if (!decoder.finished) decoder.end(out)
      checkEventBalance(out)
      expect(decoder.finished).toBe(true)
      expect(foldEvents(out)).toEqual(foldEvents(stream(ANSWER)))
      const usage = (events: readonly ModelEvent[]): unknown =>
        events.flatMap((event) => (event.type === 'response-end' ? [{ ...event.usage, raw: undefined }] : []))
      expect(usage(out)).toEqual(usage(stream(ANSWER)))
    })
    it('do not depend on how their bytes are cut', () => {
      const whole = stream(ANSWER)
      for (const cut of [1, 2, 3, 5, 17, 64, 1000]) expect(stream(ANSWER, REQUEST, cut)).toEqual(whole)
    })
    it('that break off are failures, never complete', () => {
      const frames = voice.stream(ANSWER)
      for (let kept = 0; kept < frames.length; kept++) {
        const out: ModelEvent[] = []
        const decoder = dialect.decoder(REQUEST, target)
        let error: unknown
        try {
          feed(decoder, Buffer.concat(frames.slice(0, kept)), 1000, out)
        } catch (thrown) {
          error = thrown
        }
        // Once the model has said why it stopped, only facts about the answer are missing.
        if (error === undefined) {
          checkEventBalance(out)
          expect(foldEvents(out).calls).toEqual(foldEvents(stream(ANSWER)).calls)
        } else {
          expect(isGatewayError(error) && error.errorType).toBe('provider_unavailable')
          expect(out.some(({ type }) => type === 'response-end')).toBe(false)
        }
        if (kept < frames.length - 3) expect(error).toBeInstanceOf(GatewayError)
      }
    })
    it('that are damaged give events or a typed error, in bounded time', () => {
      const bytes = Buffer.concat(voice.stream(ANSWER))
      for (let at = 0; at < bytes.length; at += 7) {
        const damaged = Buffer.from(bytes)
        damaged[at] = damaged[at]! ^ 0x15
        const out: ModelEvent[] = []
        try {
          feed(dialect.decoder(REQUEST, target), damaged, 64, out)
          checkEventBalance(out)
        } catch (error) {
          expect(error instanceof GatewayError || error instanceof EventStreamError ? 'typed' : error).toBe('typed')
        }
      }
    })
    it('are finished once, and silent after that', () => {
      const out: ModelEvent[] = []
      const decoder = dialect.decoder(REQUEST, target)
      expect([decoder.finished, decoder.settled ?? false]).toEqual([false, false])
      feed(decoder, Buffer.concat(voice.stream(TEXT)), 1000, out)
      expect(decoder.finished).toBe(true)
      const before = out.length
      decoder.push('{"x":1}', undefined, out)
      decoder.end(out)
      expect(out).toHaveLength(before)
    })
    it('leak no key of the vendor into the events', () => {
      // Keys of items are private; ids of the upstream's own items never become public ones.
      for (const event of stream(ANSWER)) {
        if (event.type !== 'item-start') continue
        expect(event.item).not.toHaveProperty('id')
        expect(event.key).not.toMatch(/vendor/)
      }
    })
  })

  describe('reasoning', () => {
    const replayed = (target2: Target): string => {
      const items: InputItem[] = []
      const open = new Map<string, { [field: string]: unknown }>()
      const texts = new Map<string, string>()
      for (const event of stream(ANSWER)) {
        if (event.type === 'item-start') {
          const item: { [field: string]: unknown } = { ...event.item }
          open.set(event.key, item)
          items.push(item as unknown as InputItem)
        } else if (event.type === 'arguments-delta' || event.type === 'text-delta') {
          texts.set(event.key, `${texts.get(event.key) ?? ''}${event.delta}`)
        } else if (event.type === 'item-end') {
          const item = open.get(event.key)!
          const text = texts.get(event.key) ?? ''
          Object.assign(
            item,
            item['type'] === 'message' ? { content: [{ type: 'output_text', text }] } : item['type'] === 'function_call' ? { arguments: text } : {},
            event.item,
          )
        }
      }
      // Some clients give back nothing but these fields.
      const history = items.map((item) =>
        item.type === 'reasoning'
          ? { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: (item as { encrypted_content?: string }).encrypted_content ?? null }
          : item,
      )
      const results = items.flatMap((item): InputItem[] =>
        item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id as string, output: 'ok' }] : [],
      )
      return dialect.encodeRequest({ ...REQUEST, input: [user('q'), ...history, ...results] }, target2).body
    }
    it('comes back to who made it, from its envelope alone', () => {
      expect(replayed(target).includes(ANSWER.reasoning!.secret)).toBe(voice.returnsSecret)
    })
    it('never reaches another account', () => {
      expect(replayed({ ...target, scope: 'somebody else' })).not.toContain(ANSWER.reasoning!.secret)
    })
  })

  describe('errors', () => {
    it.each(ERRORS)('%i %s', (status, body, types, to) => {
      const error = dialect.decodeError(status, {}, body, target)
      expect(types).toContain(error.errorType)
      expect(to === 'model' ? ['next-model'] : ['next', 'retry']).toContain(error.failover)
      expect(error.details).toMatchObject({ source: 'provider', providerName: 'Acme', upstreamStatus: status })
    })
    it('show no secret', () => {
      const error = dialect.decodeError(401, {}, '{"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijklmnop"}}', target)
      expect(JSON.stringify([error.message, error.details])).not.toContain('abcdefghijklmnop')
    })
  })
}
