import { describe, expect, it } from 'vitest'
import type { Parameter } from '../../core/capability.ts'
import type { Target } from '../../core/dialect.ts'
import type { InputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { foldEvents } from '../event-balance.ts'
import { FEATURES, tool, user } from '../request-features.ts'
import { checkTurns } from '../vendor-voices.ts'
import { ALL, REQUEST } from './subject.ts'
import type { Subject } from './subject.ts'

/** Outgoing requests, and the names and ids that come back. */
export function describeRequests({ dialect, voice, target, stream }: Subject): void {
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
    it('skip invalid parts in items that were not validated', () => {
      const nothing = [
        null,
        7,
        'x',
        [],
        {},
        { type: 'input_image' },
        { type: 'input_image', image_url: ['https://x'] },
        { type: 'input_file', file_data: 7 },
      ]
      const items = [
        { type: 'web_search_call', id: 'ws_1', status: 'completed', content: nothing, output: nothing },
        { type: 'of_tomorrow', output: nothing },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', output: nothing },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
      ] as unknown as InputItem[]
      const request = { input: [user('q'), ...items, user('go on')], text: { format: { type: 'json_object' } } } as ModelRequest
      expect(dialect.mediaUrls?.(request, target) ?? []).toEqual([])
      expect(dialect.encodeRequest(request, target).body).not.toBe('')
    })
    it('report parameters that the endpoint does not support', () => {
      const { body, dropped } = dialect.encodeRequest(
        { input: [user('q')], tools: [tool('f')], temperature: 0.5 },
        { ...target, supports: new Set() },
      )
      expect(dropped).toEqual(expect.arrayContaining(['tools', 'temperature']))
      expect(body).not.toContain('temperature')
    })
    it('do not ask an endpoint without reasoning to reason, and report the option', () => {
      const supports = new Set(ALL.filter((parameter) => !parameter.includes('reasoning')))
      const encode = (reasoning: ModelRequest['reasoning']): { readonly body: string; readonly dropped: readonly string[] } =>
        dialect.encodeRequest({ input: [user('q')], max_output_tokens: 4000, ...(reasoning == null ? {} : { reasoning }) }, { ...target, supports })
      const plain = encode(undefined)
      for (const reasoning of [{ effort: 'high' }, { max_tokens: 2000 }, { enabled: true }] as const) {
        const { body, dropped } = encode(reasoning)
        expect(body).toBe(plain.body)
        expect(dropped).toEqual([...plain.dropped, 'reasoning'])
      }
      // The target does not reason by default anyway.
      expect(encode({ effort: 'none' })).toEqual(plain)
    })
    it('ask for log probabilities with either field, or report them', () => {
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
      it.each(['flex', 'priority'] as const)('%s of an endpoint for that tier, whatever was requested, or report it as dropped', (tier) => {
        const word = voice.tiers[tier]
        for (const asked of [undefined, null, 'auto', 'default', tier] as const)
          expect(encode(asked, tier)).toEqual({ word, dropped: word === undefined })
        const other = tier === 'flex' ? 'priority' : 'flex'
        expect(encode(other, tier)).toEqual({ word, dropped: true })
      })
      it.each(['flex', 'priority', 'fast'] as const)('default of an endpoint beside those of tiers, and report %s as dropped', (asked) => {
        const { word, dropped } = encode(asked, 'default')
        expect([undefined, voice.tiers.default]).toContain(word)
        expect(dropped).toBe(true)
        expect(encode(undefined, 'default')).toEqual({ word, dropped: false })
      })
      it('of the caller where the endpoint has no tier, or report it as dropped', () => {
        expect(encode(undefined)).toEqual({ word: undefined, dropped: false })
        for (const asked of ['flex', 'priority'] as const) {
          const { word, dropped } = encode(asked)
          expect(word).toBe(dropped ? undefined : voice.tiers[asked])
        }
        expect(encode('fast')).toEqual(encode('priority'))
      })
    })
    it('describe an empty file as empty, because no vendor accepts one', () => {
      const file = (filename: string | null, file_data: string) => ({ type: 'input_file' as const, filename, file_data })
      const files = [file('a.txt', 'data:text/plain;base64,'), file('b.pdf', 'data:application/pdf;base64,'), file(null, 'data:text/csv;base64,IAo=')]
      const { body } = dialect.encodeRequest({ input: [user([{ type: 'input_text', text: 'read' }, ...files])] }, target)
      for (const told of ['a.txt', 'b.pdf']) expect(body).toContain(`[The file \\"${told}\\" is empty]`)
      expect(body).toContain('[An empty file]')
      expect(body).not.toMatch(/"(?:data|bytes|file_data)":|base64,/)
    })
    it('give a JSON schema a valid name, whatever the caller calls it', () => {
      const format = { type: 'json_schema' as const, name: 'Größe (v2) '.repeat(9), description: null, schema: { type: 'object', properties: {} } }
      const { body } = dialect.encodeRequest({ input: [user('q')], text: { format } }, target)
      expect(body).not.toMatch(/Größe|v2\)|null/)
      const [name] = [...body.matchAll(/"name":"([^"]*)"/g)].map(([, found]) => found)
      expect(name ?? 'none').toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    })
    it('can be encoded from lists as long as a body can hold', () => {
      const many = <T>(length: number, entry: T): T[] => Array.from({ length }, () => entry)
      const image = { type: 'input_image', image_url: 'https://x.test/i.png' } as const
      const call: InputItem = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
      const long: readonly ModelRequest[] = [
        { input: [user('q')], tools: many(250_000, { type: 'of_tomorrow' }) },
        { input: [user('q'), call, { type: 'function_call_output', call_id: 'c', output: many(125_000, image) }] },
      ]
      for (const request of long) expect(() => dialect.encodeRequest(request, target)).not.toThrow(RangeError)
    })
    it('do not hold the credentials of anyone', () => {
      const { headers } = dialect.encodeRequest(REQUEST, target)
      expect(Object.keys(headers).filter((name) => /auth|key|token/i.test(name))).toEqual([])
    })
  })

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
      // A format with its own free-form tools takes the text unchanged.
      expect(custom?.type === 'custom_tool_call' ? custom.text : 'some text').toBe('some text')
    })
    it('that the caller runs are sent with their results', () => {
      const input: InputItem[] = [
        user('q'),
        { type: 'shell_call', id: 'sh_1', call_id: 'a', action: { commands: ['list-them'] }, status: 'completed' },
        { type: 'local_shell_call', id: 'lsh_1', call_id: 'b', action: { type: 'exec', command: ['count-them'], env: {} }, status: 'completed' },
        { type: 'apply_patch_call', id: 'apc_1', call_id: 'c', operation: { type: 'delete_file', path: 'left.txt' }, status: 'completed' },
        { type: 'shell_call_output', call_id: 'a', output: [{ stdout: 'three-of-them', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
        { type: 'local_shell_call_output', id: 'b', output: 'four-of-them' },
        { type: 'apply_patch_call_output', call_id: 'c', status: 'failed', output: 'no-such-file' },
      ]
      const body = dialect.encodeRequest({ input }, target).body
      for (const told of ['list-them', 'count-them', 'left.txt', 'three-of-them', 'four-of-them', 'no-such-file', 'failed'])
        expect(body).toContain(told)
      const turns = voice.turns(JSON.parse(body))
      checkTurns(turns)
      expect([0, 3]).toContain(turns.flatMap(({ results }) => results).length)
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
}
