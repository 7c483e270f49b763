import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { change, mutate, nasty, type Json } from '../../src/testing/mutate-json.ts'
import { BODIES } from '../../src/doors/chat-completions/__fixtures__/bodies.ts'
import { BODIES as CONTENTS } from '../../src/doors/generate-content/__fixtures__/bodies.ts'
import { build, CORPUS, mutant } from './fuzz-corpus.ts'
import { breachIn, DIALECTS, startFuzzStage, type FuzzStage } from './fuzz-stage.ts'

/**
 * Valid requests with one or several errors, in front of every format: each answer follows the contract, is never a 500, and the connection is never just
 * closed. The seed is fixed; `SIGNALBOX_FUZZ_RUNS` and `SIGNALBOX_FUZZ_SEED` extend the search.
 */
const RUNS = Number(process.env['SIGNALBOX_FUZZ_RUNS'] ?? 250)
const SEED = Number(process.env['SIGNALBOX_FUZZ_SEED'] ?? 20_260_101)
const params = (runs: number) => ({ numRuns: runs, seed: SEED }) as const

let stage: FuzzStage
beforeAll(async () => {
  stage = await startFuzzStage()
})
afterAll(() => stage.close())

const respond = async (body: string | Buffer): Promise<string | undefined> => breachIn(await stage.send('/api/v1/responses', { body }))

describe('bodies', () => {
  it.each(DIALECTS)(verifies('S2-bad-input', 'B6', 'that are valid are served or refused by %s, never a 500'), async (dialect) => {
    const about = DIALECTS.indexOf(dialect)
    for (let base = 0; base < CORPUS.length; base++) {
      const body = build({ base, dialect: about, streamed: base % 2 === 0, changes: [] })
      expect(await respond(JSON.stringify(body))).toBeUndefined()
    }
  })

  it(verifies('S2-bad-input', 'P22', 'with something broken are served or refused, never a 500'), { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(mutant, async (made) => {
        const body = build(made)
        expect(await respond(JSON.stringify(body))).toBeUndefined()
      }),
      params(RUNS * 4),
    )
  })

  it(
    verifies('S2-bad-input', 'P22', 'of chat completions with something broken are served or refused, never a 500'),
    { timeout: 600_000 },
    async () => {
      const chat = fc.record({
        base: fc.nat(BODIES.length - 1),
        dialect: fc.constantFrom(...DIALECTS),
        stream: fc.boolean(),
        changes: fc.array(change, { maxLength: 4 }),
      })
      await fc.assert(
        fc.asyncProperty(chat, async ({ base, dialect, stream, changes }) => {
          const { models: _, provider: __, ...whole } = BODIES[base] as { [key: string]: Json }
          const body = changes.reduce<Json>(mutate, structuredClone({ ...whole, model: `acme/${dialect}`, stream }))
          const answer = await stage.send('/api/v1/chat/completions', { body: JSON.stringify(body) })
          expect(breachIn(answer)).toBeUndefined()
          if (answer.status !== 200) expect(answer.text).not.toMatch(/"path":"input\b/)
        }),
        params(RUNS * 2),
      )
    },
  )

  it(
    verifies('S2-bad-input', 'P22', 'of generateContent with something broken are served or refused in its words, never a 500'),
    { timeout: 600_000 },
    async () => {
      const asked = fc.record({
        base: fc.nat(CONTENTS.length - 1),
        dialect: fc.constantFrom(...DIALECTS),
        method: fc.constantFrom('generateContent', 'streamGenerateContent?alt=sse', 'streamGenerateContent'),
        changes: fc.array(change, { maxLength: 4 }),
      })
      await fc.assert(
        fc.asyncProperty(asked, async ({ base, dialect, method, changes }) => {
          const body = changes.reduce<Json>(mutate, structuredClone(CONTENTS[base] as Json))
          const answer = await stage.send(`/api/v1beta/models/acme/${dialect}:${method}`, { body: JSON.stringify(body) })
          expect(breachIn(answer)).toBeUndefined()
          if (answer.status !== 200) expect(answer.text).not.toMatch(/"path":"input\b/)
        }),
        params(RUNS * 2),
      )
    },
  )

  it(verifies('S2-bad-input', 'B5', 'with bytes flipped are served or refused, never a 500'), { timeout: 600_000 }, async () => {
    const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.nat(CORPUS.length - 1), fc.nat(DIALECTS.length - 1), flips, async (base, dialect, changes) => {
        const bytes = Buffer.from(JSON.stringify(build({ base, dialect, streamed: false, changes: [] })))
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        expect(await respond(bytes)).toBeUndefined()
      }),
      params(RUNS),
    )
  })
})

const printable = fc.string({
  unit: fc.constantFrom(...Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)), ' ', '\t', '\u00e9', '\u00ff'),
  maxLength: 300,
})

describe('the Authorization header', () => {
  const SQL = ["' OR '1'='1", '1; SELECT pg_sleep(5)--', "') UNION SELECT hash FROM keys--", '\\x00', '%00', '{"$ne":null}', '*)(uid=*))(|(uid=*']
  const value = fc.oneof(
    printable,
    printable.map((text) => `Bearer ${text}`),
    fc.constantFrom(...SQL).map((text) => `Bearer ${text}`),
    fc.constantFrom(...SQL).map((text) => `Bearer ${TEST_KEY}${text}`),
    fc.nat(TEST_KEY.length - 1).map((n) => `Bearer ${TEST_KEY.slice(0, n)}`),
    fc.constantFrom(
      'Bearer',
      'Bearer ',
      'bearer\t',
      'Basic Og==',
      'Digest username="x"',
      `Bearer Bearer ${TEST_KEY}`,
      `Bearer ${TEST_KEY},${TEST_KEY}`,
      `Token ${TEST_KEY}`,
    ),
  )

  it(verifies('F4', 'B9', 'with arbitrary content gets 401 on every route'), { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom('/api/v1/responses', '/api/v1/keys'), async (authorization, path) => {
        fc.pre(authorization.trim() !== `Bearer ${TEST_KEY}`)
        const started = performance.now()
        const answer = await stage.send(path, { authorization, body: '{"model":"acme/openai-chat","input":"hi"}' })
        expect(answer.status).toBe(401)
        expect(breachIn(answer)).toBeUndefined()
        // No guess reaches a database, so none can cause a wait.
        expect(performance.now() - started).toBeLessThan(2_000)
      }),
      params(RUNS),
    )
  })
})

describe('request targets', () => {
  const segment = fc.oneof(
    fc.constantFrom(
      'api',
      'v1',
      'responses',
      'keys',
      'models',
      'workspaces',
      'generation',
      'observability',
      'destinations',
      '..',
      '.',
      '%2e%2e',
      '%2f',
      '%00',
      '%',
      '%zz',
      '%c0%af',
      '~',
      '*',
      'x',
    ),
    fc.string({ unit: fc.constantFrom(..."abcXYZ019-._~!$&'()*+,;=:@%"), maxLength: 12 }),
  )
  const query = fc.oneof(
    fc.constant(''),
    fc
      .array(fc.tuple(fc.constantFrom('id', 'limit', 'offset', 'workspace_id', 'date', 'x[]', '__proto__', 'a.b'), segment), { maxLength: 4 })
      .map((pairs) => `?${pairs.map(([k, v]) => `${k}=${v}`).join('&')}`),
  )
  const target = fc.oneof(
    fc.tuple(fc.array(segment, { maxLength: 8 }), query).map(([parts, tail]) => `/${parts.join('/')}${tail}`),
    fc
      .tuple(
        fc.constantFrom('keys', 'workspaces', 'byok', 'observability/destinations', 'generation', 'activity', 'models', 'providers', 'credits'),
        fc.array(segment, { maxLength: 3 }),
        query,
      )
      .map(([root, parts, tail]) => `/api/v1/${[root, ...parts].join('/')}${tail}`),
  )
  const method = fc.constantFrom('GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND')

  it(verifies('A8', 'B9', 'of any shape are answered as the contract says, with a key and a body'), { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(target, method, nasty, async (path, how, body) => {
        const text = how === 'GET' || how === 'HEAD' ? '' : JSON.stringify(body)
        const answer = await stage.send(path, { method: how, authorization: `Bearer ${TEST_MANAGEMENT_KEY}`, body: text })
        expect(answer.status).toBeLessThan(500)
        if (how !== 'HEAD' && answer.status >= 400) expect(breachIn(answer)).toBeUndefined()
      }),
      params(RUNS * 2),
    )
  })
})
