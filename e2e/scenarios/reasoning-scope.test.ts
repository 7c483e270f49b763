import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from '../../src/testing/voices/voice.ts'
import { verifies } from '../requirements.ts'

/**
 * Reasoning is only sent back to the party that created it: not to another server of the same format, and not to the same server with another account's
 * key. What is omitted is listed in the metadata.
 */

const SECRET = Buffer.from('the secret of the first').toString('base64')
const FIRST: ScriptedAnswer = {
  reasoning: { text: 'Thoughts of the first.', secret: SECRET },
  calls: [{ id: 'call_one', name: 'f', arguments: '{"x":"1"}' }],
}
const LAST: ScriptedAnswer = { text: 'Done.' }
const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: { x: { type: 'string' } } } }]

type Item = { readonly type: string; readonly [field: string]: unknown }

describe.each([...VENDOR_VOICES.values()].map((voice) => [voice.dialect, voice] as const))(
  verifies('S5-scope', 'reasoning through %s'),
  (dialect, voice: VendorVoice) => {
    let upstream: FakeUpstream
    let gateway: TestGateway
    let answer = FIRST

    beforeAll(async () => {
      const speak: Reply = async (_request, response) => {
        response.writeHead(200, { 'content-type': voice.contentType })
        for (const frame of voice.stream(answer)) response.write(frame)
        response.end()
      }
      upstream = await startFakeUpstream(speak)
      const provider = (slug: string, base = upstream.url) => ({ slug, dialect, base_url: base, api_keys: ['operator-key'], options: voice.options })
      const model = (slug: string, name: string) => ({
        slug,
        context_length: 200_000,
        endpoints: [
          {
            provider: name,
            upstream_model: voice.model,
            max_output_tokens: 64_000,
            supports: ['tools', 'tool_choice', 'reasoning', 'include_reasoning', 'max_tokens'],
          },
        ],
      })
      gateway = await startGateway({
        providers: [provider('one'), provider('two')],
        models: [model('acme/one', 'one'), model('acme/two', 'two')],
        routing: { sticky: false },
      })
    })
    afterAll(async () => {
      await gateway.close()
      await upstream.close()
    })

    async function ask(model: string, input: readonly unknown[]): Promise<{ output: readonly Item[]; body: string; params: unknown }> {
      const response = await gateway.respond(
        {
          model,
          input,
          tools,
          reasoning: { effort: 'high' },
          max_output_tokens: 20_000,
          include: ['reasoning.encrypted_content'],
        },
        { headers: { 'x-gateway-experimental-metadata': 'enabled' } },
      )
      const parsed = (await response.json()) as { output: Item[]; gateway_metadata: { params: unknown } }
      expect([response.status, response.status === 200 ? undefined : parsed]).toEqual([200, undefined])
      return { output: parsed.output, body: JSON.stringify(upstream.requests.at(-1)!.body), params: parsed.gateway_metadata.params }
    }

    /** The first turn at `from`; its history is then sent to `to`, with every field except those that some clients drop. */
    async function replay(from: string, to: string): Promise<{ body: string; params: unknown }> {
      answer = FIRST
      const start = { type: 'message', role: 'user', content: 'q' }
      const { output } = await ask(from, [start])
      const history = output.map((item) =>
        item.type === 'reasoning'
          ? { type: 'reasoning', id: item['id'], summary: item['summary'], encrypted_content: item['encrypted_content'] }
          : item,
      )
      const call = output.find(({ type }) => type === 'function_call')!
      answer = LAST
      return ask(to, [start, ...history, { type: 'function_call_output', call_id: call['call_id'], output: 'ok' }])
    }

    it(verifies('P26', 'is sent back to the account that created it'), async () => {
      expect((await replay('acme/one', 'acme/one')).body.includes(SECRET)).toBe(voice.returnsSecret)
    })

    it(verifies('P26', 'is not sent to another provider of the same format, and the answer says so'), async () => {
      const { body, params } = await replay('acme/one', 'acme/two')
      expect(body).not.toContain(SECRET)
      expect(body).not.toContain('sb1.')
      if (voice.returnsSecret) expect(JSON.stringify(params)).toMatch(/reasoning/)
    })

    it('is not sent to another account of the same provider', async () => {
      answer = FIRST
      const { output } = await ask('acme/one', [{ type: 'message', role: 'user', content: 'q' }])
      const created = await gateway.api('POST', '/api/v1/byok', { provider: 'one', key: 'sk-their-own-key-123456' })
      const { data } = (await created.json()) as { data: { id: string } }
      try {
        const call = output.find(({ type }) => type === 'function_call')!
        answer = LAST
        const history = [
          { type: 'message', role: 'user', content: 'q' },
          ...output.map((item) => ({ ...item, signature: null })),
          { type: 'function_call_output', call_id: call['call_id'], output: 'ok' },
        ]
        expect((await ask('acme/one', history)).body).not.toContain(SECRET)
        const own = await replay('acme/one', 'acme/one')
        expect(JSON.stringify(upstream.requests.at(-1)!.headers)).toContain('sk-their-own-key-123456')
        expect(own.body.includes(SECRET)).toBe(voice.returnsSecret)
      } finally {
        await gateway.api('DELETE', `/api/v1/byok/${data.id}`)
      }
    })
  },
)
