import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type { DeliveryOutcome, Destination, DestinationContext, OutgoingRequest } from '../core/destination.ts'
import type { FinishedGeneration } from '../core/generation.ts'
import { classifyHttp } from '../core/outcome.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { readPlatformSchema } from './platform-schema.ts'
import { allText, bodyText, showRequest } from './request-text.ts'
import { CANARY, failedGeneration, embeddingGeneration, fullGeneration, minimalGeneration } from './sample-generations.ts'

/** What the test of a type declares; the suite finds out everything else. */
export interface DestinationContract {
  /** A complete `config` as a caller sends it. Secret values must be recognisable: the suite looks for them where they must not appear. */
  readonly config: { readonly [key: string]: unknown }
  /** Keys without which a config is refused. */
  readonly required: readonly string[]
  /** The defaults if only the required keys are given. */
  readonly defaults: { readonly [key: string]: unknown }
  /** Configs that must be refused. */
  readonly invalid?: readonly { readonly [key: string]: unknown }[]
  /** The platform's API requires the secret in the body. */
  readonly secretInBody?: boolean
  /** Answers whose meaning differs from plain HTTP: status, body, headers, expected kind. */
  readonly classification?: readonly (
    | readonly [number, string, DeliveryOutcome['kind']]
    | readonly [number, string, DeliveryOutcome['kind'], { readonly [name: string]: string }]
  )[]
  readonly context?: Partial<DestinationContext>
  /** Further assertions on the requests of the full record. */
  readonly inspect?: (requests: readonly OutgoingRequest[]) => void
}

const CONTEXT: DestinationContext = {
  destinationId: '8c0f2f0e-2f8b-4a77-9d8e-0d9a1f2b3c4d',
  serviceName: 'signalbox',
  serviceVersion: '1.0.0',
  now: Date.UTC(2026, 0, 15, 10, 31, 0),
  attempt: 0,
}
const NONE = { cost: false, identity: false, requestContext: false }
const ALL = { cost: true, identity: true, requestContext: true }

const record = (sample: FinishedGeneration, privacyMode = false, broadcast = NONE): DeliveryRecord =>
  toDeliveryRecord(sample.generation, sample.content, { privacyMode, broadcast })

/** Runs the suite that every destination type must pass. Golden files are in `__golden__/` next to the test. */
export function testDestination<Settings>(destination: Destination<Settings>, contract: DestinationContract): void {
  const settings = destination.settings.parse(contract.config)
  const context: DestinationContext = { ...CONTEXT, ...contract.context }
  const encode = async (records: readonly DeliveryRecord[], options = settings): Promise<readonly OutgoingRequest[]> =>
    destination.encode(records, options, context)

  describe(`destination ${destination.type}`, () => {
    describe('settings', () => {
      it('are refused with texts no header can hold, where they would stand in one', async () => {
        // A type with a transport of its own sends no such headers.
        if (destination.transport !== undefined) return
        for (const [key, value] of Object.entries(contract.config)) {
          const parsed = destination.settings.safeParse({ ...contract.config, [key]: `${String(value)}\u043a\u043b\u044e\u0447` })
          if (typeof value !== 'string' || !parsed.success) continue
          const probes = destination.probe(parsed.data, context).map(({ request }) => request)
          for (const { headers } of [...(await encode([record(minimalGeneration())], parsed.data)), ...probes])
            for (const header of Object.values(headers)) expect([key, header]).toEqual([key, expect.stringMatching(/^[\t\x20-\x7e\x80-\xff]*$/)])
        }
      })

      it.each(contract.required)('need %s', (key) => {
        const { [key]: _missing, ...rest } = contract.config
        expect(destination.settings.safeParse(rest).success).toBe(false)
        for (const nothing of ['', '   ']) expect(destination.settings.safeParse({ ...rest, [key]: nothing }).success).toBe(false)
      })

      it('fill in defaults', () => {
        const least = Object.fromEntries(contract.required.map((key) => [key, contract.config[key]]))
        expect(destination.settings.parse(least)).toEqual({ ...least, ...contract.defaults })
      })

      it('refuse unknown keys and forbidden or malformed headers', () => {
        expect(destination.settings.safeParse({ ...contract.config, surprise: 1 }).success).toBe(false)
        for (const headers of [
          { Host: 'x' },
          { 'content-length': '1' },
          { 'transfer-encoding': 'chunked' },
          { connection: 'close' },
          { a: 'b\r\nc: d' },
          { 'a b': 'c' },
          { a: 1 },
        ]) {
          expect([headers, destination.settings.safeParse({ ...contract.config, headers }).success]).toEqual([headers, false])
        }
        for (const invalid of contract.invalid ?? [])
          expect([invalid, destination.settings.safeParse({ ...contract.config, ...invalid }).success]).toEqual([invalid, false])
      })

      it('declare their secrets', () => {
        const schema = z.toJSONSchema(destination.settings, { io: 'input' }) as { properties: Record<string, unknown> }
        const keys = Object.keys(schema.properties)
        const suspicious = keys.filter((key) => /key|token|secret|password/i.test(key))
        expect(destination.secrets).toEqual(expect.arrayContaining([...suspicious, 'headers.*']))
        for (const path of destination.secrets) expect(keys).toContain(path.split('.')[0])
      })
    })

    describe('requests', () => {
      it.each([
        ['full', () => record(fullGeneration())],
        ['minimal', () => record(minimalGeneration())],
        ['failed', () => record(failedGeneration())],
        ['private', () => record(fullGeneration(), true, ALL)],
        ['embedding', () => record(embeddingGeneration())],
      ])('for a %s generation are as recorded', async (name, make) => {
        const requests = await encode([make()])
        await expect(requests.map(showRequest).join('\n\n')).toMatchFileSnapshot(`./__golden__/${destination.type}.${name}.http`)
      })

      it('hold no text of prompt or answer in privacy mode', async () => {
        const records = [fullGeneration(), failedGeneration(), embeddingGeneration()].map((sample) => record(sample, true, ALL))
        for (const request of await encode(records)) expect(allText(request)).not.toContain(CANARY)
      })

      it("hold the caller's own metadata, also under names that have a meaning in a trace", async () => {
        const { generation, content } = minimalGeneration()
        const metadata = { team: 'of-team', tags: 'of-tags', environment: 'of-environment', release: 'of-release' }
        for (const fields of [{ metadata }, { trace: { ...metadata, environment: { name: 'of-environment' }, release: ['of-release'] } }])
          for (const request of await encode([record({ generation: { ...generation, ...fields }, content })]))
            for (const value of Object.values(metadata)) expect(bodyText(request)).toContain(value)
      })

      it('hold no half of a surrogate pair, which strict readers of JSON refuse with the whole batch', async () => {
        const { generation } = failedGeneration()
        const output = [{ type: 'message' as const, role: 'assistant' as const, content: [{ type: 'output_text' as const, text: 'cut \ud83d' }] }]
        // Wherever an id is cut, one of the two has a surrogate pair there.
        for (const even of ['', 'u']) {
          const externalUser = `${even}${'\u{1f600}'.repeat(127)}`
          const cut = {
            generation: { ...generation, externalUser, sessionId: externalUser, errorMessage: 'cut \ud83d' },
            content: { input: [], output },
          }
          for (const request of await encode([record(cut)])) expect(allText(request)).not.toMatch(/\\ud83d|[\ud800-\udbff](?![\udc00-\udfff])/)
        }
      })

      it('hold no such half from JSON inside a text either', async () => {
        const { generation } = minimalGeneration()
        const call = { type: 'function_call' as const, call_id: 'c', name: 'look', arguments: '{"where":"cut \\ud83d","\\udc00":1}' }
        const content = { input: [call], output: [call] }
        // After an even number of backslashes it is text, after an odd number an escape.
        const escaped = /(?<!\\)(?:\\\\)*\\ud[89a-f]/i
        for (const request of await encode([record({ generation, content })])) if (isJson(request)) expect(bodyText(request)).not.toMatch(escaped)
      })

      it('hold arguments that nest deeper than any stack', async () => {
        const { generation } = minimalGeneration()
        const deep = (open: string, close: string): string => `${open.repeat(20_000)}"deepest"${close.repeat(20_000)}`
        for (const args of [deep('[', ']'), deep('{"a":', '}')]) {
          const call = { type: 'function_call' as const, call_id: 'c', name: 'look', arguments: args }
          const requests = await encode([record({ generation, content: { input: [call], output: [call] } })])
          expect(requests.map(bodyText).join('\n')).toMatch(/deepest|truncated/)
        }
      })

      it('hold the words of a refusal', async () => {
        const { generation } = minimalGeneration()
        const output = [
          { type: 'message' as const, role: 'assistant' as const, content: [{ type: 'refusal' as const, refusal: 'I will not do that.' }] },
        ]
        for (const request of (await encode([record({ generation, content: { input: [], output } })])).slice(0, 1))
          expect(bodyText(request)).toContain('I will not do that.')
      })

      it('hold no media', async () => {
        for (const request of await encode([record(fullGeneration(), false, ALL)])) {
          expect(allText(request)).not.toMatch(/;base64,/)
          expect(allText(request)).not.toContain(Buffer.alloc(90, 1).toString('base64').slice(0, 40))
        }
      })

      it('are the same bytes when encoded again', async () => {
        const samples = [fullGeneration(), minimalGeneration(), failedGeneration()]
        const once = await encode(samples.map((sample) => record(sample)))
        const again = await encode(samples.map((sample) => record(structuredClone(sample))))
        expect(again.map(allText)).toEqual(once.map(allText))
      })

      it('carry every record of the largest batch, within the byte limit for small ones', async () => {
        const count = Math.min(destination.limits.records, 1000)
        const batch = Array.from({ length: count }, (_, i) => {
          const sample = minimalGeneration()
          return record({ ...sample, generation: { ...sample.generation, id: `gen-${i}` } })
        })
        const carried = new Set((await encode(batch)).flatMap((request) => request.records ?? [...batch.keys()]))
        expect(carried.size).toBe(count)
        for (const request of await encode(batch.slice(0, 1)))
          expect(Buffer.byteLength(request.body ?? '')).toBeLessThanOrEqual(destination.limits.bytes)
      })

      it('keep secrets out of address and body, and headers well formed', async () => {
        const secrets = secretValues(destination.secrets, contract.config)
        for (const request of [...(await encode([record(fullGeneration())])), ...destination.probe(settings, context).map((step) => step.request)]) {
          checkRequest(request)
          for (const secret of secrets) {
            expect(request.url).not.toContain(secret)
            if (!contract.secretInBody) expect(bodyText(request)).not.toContain(secret)
          }
        }
      })

      it("let the platform's own headers win over the owner's", async () => {
        const plain = (await encode([record(minimalGeneration())], destination.settings.parse({ ...contract.config, headers: undefined })))[0]!
        const names = Object.keys(plain.headers).filter(
          (name) => destination.settings.safeParse({ ...contract.config, headers: { [name]: 'x' } }).success,
        )
        const headers = { ...Object.fromEntries(names.map((name) => [name.toUpperCase(), 'evil'])), 'X-Extra': 'kept' }
        const mixed = (await encode([record(minimalGeneration())], destination.settings.parse({ ...contract.config, headers })))[0]!
        const lower = Object.fromEntries(Object.entries(mixed.headers).map(([name, value]) => [name.toLowerCase(), value]))
        for (const [name, value] of Object.entries(plain.headers)) expect(lower[name.toLowerCase()]).toBe(value)
        expect(Object.values(mixed.headers)).not.toContain('evil')
        if (destination.transport === undefined) expect(lower['x-extra']).toBe('kept')
      })

      const schema = readPlatformSchema(destination.type)
      if (schema !== undefined)
        it.each(Object.entries({ full: fullGeneration, minimal: minimalGeneration, failed: failedGeneration, embedding: embeddingGeneration }))(
          "for a %s generation are what the platform's documentation says",
          async (_name, make) => {
            for (const privacyMode of [false, true])
              for (const request of await encode([record(make(), privacyMode, ALL)])) expect(schema.problemsOf(request)).toEqual([])
          },
        )

      if (contract.inspect) it('fit the platform', async () => contract.inspect?.(await encode([record(fullGeneration(), false, ALL)])))
    })

    describe('answers', () => {
      const classify = (status: number, body = '', headers = {}): DeliveryOutcome['kind'] => {
        const response = { status, headers, body: Buffer.from(body) }
        return (destination.classify?.(response, { method: 'POST', url: 'https://example.com', headers: {} }) ?? classifyHttp(response)).kind
      }
      const special = new Set((contract.classification ?? []).map(([status]) => status))
      const usual = [
        [200, 'delivered'],
        [202, 'delivered'],
        [204, 'delivered'],
        [302, 'unauthorized'],
        [400, 'reject'],
        [401, 'unauthorized'],
        [403, 'unauthorized'],
        [413, 'split'],
        [429, 'retry'],
        [500, 'retry'],
        [502, 'retry'],
        [503, 'retry'],
      ] as const
      it.each(usual.filter(([status]) => !special.has(status)))('%i means %s', (status, kind) => expect(classify(status)).toBe(kind))
      for (const [status, body, kind, headers] of contract.classification ?? [])
        it(`${status} ${JSON.stringify(body)} means ${kind}`, () => expect(classify(status, body, headers)).toBe(kind))
      it('are read whatever they contain', () => {
        for (const body of ['', '{', 'null', '[]', '<html>', '{"partialSuccess":7}', '\u0000\u0001']) expect(() => classify(200, body)).not.toThrow()
      })
    })

    it('has a connection test', async () => {
      const steps = destination.probe(settings, context)
      expect(steps.length).toBeGreaterThan(0)
      await expect(steps.map((step) => `# ${step.name}\n${showRequest(step.request)}`).join('\n\n')).toMatchFileSnapshot(
        `./__golden__/${destination.type}.probe.http`,
      )
    })

    it('has limits that make sense', () => {
      expect(destination.limits.records).toBeGreaterThan(0)
      expect(destination.limits.bytes).toBeGreaterThanOrEqual(10_000)
      expect(destination.type).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    })
  })
}

/** Binary formats have lengths instead of escapes. */
const isJson = ({ headers }: OutgoingRequest): boolean => !Object.values(headers).includes('application/x-protobuf')

function checkRequest(request: OutgoingRequest): void {
  expect(URL.canParse(request.url)).toBe(true)
  for (const [name, value] of Object.entries(request.headers)) {
    expect(name).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
    expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/)
    expect(['host', 'content-length', 'transfer-encoding', 'connection', 'content-encoding']).not.toContain(name.toLowerCase())
  }
}

function secretValues(paths: readonly string[], config: { readonly [key: string]: unknown }): readonly string[] {
  return paths.flatMap((path) => {
    const [key = '', rest] = path.split('.')
    const value = config[key]
    if (rest === undefined) return typeof value === 'string' ? [value] : []
    return Object.values((value ?? {}) as Record<string, string>)
  })
}
