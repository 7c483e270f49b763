import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../src/config/load.ts'
import type { ModelRequest } from '../src/core/request.ts'
import { dialects } from '../src/dialects/index.ts'
import { awsEvent } from '../src/testing/aws-frames.ts'
import { checkEventBalance, foldEvents } from '../src/testing/event-balance.ts'
import { startFakeUpstream, status, type FakeUpstream, type Reply } from '../src/testing/fake-upstream.ts'
import { FORMATS, readRecordings, type Recording } from '../src/testing/recordings.ts'
import { VENDOR_VOICES } from '../src/testing/vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from '../src/testing/voices/voice.ts'
import { decodeAnswer } from './record/features.ts'
import { targetFor } from './record/exchange.ts'
import { createScrubber } from './record/scrub.ts'
import { record, type Recorded } from './record.ts'

/** Texts that no file may contain. */
const KEY = 'acme-private-key-0123456789'
const CANARIES = [
  KEY,
  Buffer.from(KEY).toString('base64'),
  'acme-holding',
  'org-AbCdEfGh12345678',
  'jane.doe@acme-holding.example',
  '123456789012',
  'sessioncookie',
  'req_011CQabcdefghijk',
  'sk-proj-abcdefghijklmnop',
]
const SEALED = 'c2VjcmV0IG9mIHRoZSB2ZW5kb3I='
const ANSWER: ScriptedAnswer = {
  reasoning: { text: 'Two places.', secret: SEALED },
  text: 'Grüße 🎉 from there.',
  calls: [
    { id: 'call_Vendor1234', name: 'f', arguments: '{"x":"Å"}' },
    { id: 'call_Vendor5678', name: 'f', arguments: '{}' },
  ],
}
const REQUEST = { tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }], user: 'jane.doe@acme-holding.example' }
const LEAKY_HEADERS = {
  'set-cookie': 'sid=sessioncookie',
  'openai-organization': 'acme-holding',
  'x-request-id': 'req_011CQabcdefghijk',
  'anthropic-organization-id': 'org-AbCdEfGh12345678',
  'retry-after': '7',
}

let folder: string
let upstream: FakeUpstream | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'record-'))
})
afterEach(async () => {
  await upstream?.close()
  upstream = undefined
  rmSync(folder, { recursive: true })
})

const speak =
  (voice: VendorVoice, streamed: boolean): Reply =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': streamed ? voice.contentType : 'application/json', ...LEAKY_HEADERS })
    if (!streamed) return void response.end(voice.json(ANSWER))
    // An unrequested frame that names the account.
    if (voice.dialect === 'bedrock-converse') response.write(awsEvent('ping', { account: '123456789012', owner: 'acme-holding' }))
    else response.write(`: acme-holding\n\n`)
    for (const frame of voice.stream(ANSWER)) response.write(frame)
    response.end()
  }

interface RunOptions {
  readonly stream?: boolean
  readonly body?: object
  readonly name?: string
}

async function run(voice: VendorVoice, replies: readonly Reply[], more: RunOptions = {}): Promise<Recorded> {
  upstream ??= await startFakeUpstream(...replies)
  const file = join(folder, 'signalbox.json')
  const provider = {
    slug: 'acme',
    dialect: voice.dialect,
    base_url: upstream.url,
    api_keys: [KEY],
    options: voice.options,
    organization: 'acme-holding',
    headers: { 'x-account': '123456789012' },
  }
  const endpoint = { provider: 'acme', upstream_model: voice.model, max_output_tokens: 64_000 }
  writeFileSync(file, JSON.stringify({ providers: [provider], models: [{ slug: 'acme/model', context_length: 200_000, endpoints: [endpoint] }] }))
  return record({
    config: await loadConfig({ env: {}, file }),
    env: {},
    model: 'acme/model',
    body: { input: 'My key is sk-proj-abcdefghijklmnop, reach jane.doe@acme-holding.example', ...REQUEST, ...more.body },
    stream: more.stream ?? true,
    name: more.name ?? 'scenario',
    folder: join(folder, 'out'),
  })
}

const files = (): string[] =>
  readdirSync(join(folder, 'out'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

function expectClean(canaries: readonly string[] = CANARIES): void {
  for (const file of files()) {
    const text = readFileSync(file, 'utf8')
    for (const canary of canaries) expect([file, canary, text.includes(canary)]).toEqual([file, canary, false])
  }
}

/** Items of an answer without the parts that may differ: ids and sealed content. */
function saidBy(voice: VendorVoice, { body, contentType }: Pick<Recording, 'body' | 'contentType'>): unknown {
  const dialect = dialects.get(voice.dialect)!
  const request: ModelRequest = { input: [], tools: REQUEST.tools }
  const options = dialect.options.parse(voice.options)
  const connection = { dialect, options, scope: 's' } as never
  const target = targetFor({ connection, supports: new Set(dialect.supports), upstreamModel: voice.model } as never, true)
  const events = decodeAnswer(dialect, request, target, { status: 200, body, contentType })
  checkEventBalance(events)
  const folded = foldEvents(events)
  return { ...folded, calls: folded.calls.map((call) => ({ ...call, callId: '' })) }
}

describe.each([...VENDOR_VOICES.values()].map((voice) => [voice.dialect, voice] as const))('an exchange with %s', (dialect, voice) => {
  it.each([
    ['a stream', true],
    ['a body', false],
  ])('as %s is recorded without a trace of the account, and replays as it was', async (_name, stream) => {
    const recorded = await run(voice, [speak(voice, stream)], { stream })
    expect(JSON.stringify(upstream!.requests[0]!.headers)).toContain(KEY)
    // One format seals nothing: the content that it expects back is plain text.
    expectClean(dialect === 'cohere-v2' ? CANARIES : [...CANARIES, SEALED])
    expect(recorded.features).toEqual(expect.arrayContaining(['reasoning.text', 'tool_call', 'tool_call.parallel']))
    const [recording] = readRecordings(join(folder, 'out'), FORMATS[dialect]!)
    expect(recording).toMatchObject({ name: recorded.response, provider: 'acme', status: 200, features: recorded.features })
    const original = stream ? Buffer.concat(voice.stream(ANSWER)) : Buffer.from(voice.json(ANSWER))
    const contentType = stream ? voice.contentType : 'application/json'
    expect(saidBy(voice, recording!)).toEqual(saidBy(voice, { body: original, contentType }))
  })
})

const chat = VENDOR_VOICES.get('openai-chat')!

describe('a scenario', () => {
  it('grows by a step with every call, in which the same id has the same stand-in', async () => {
    const first = await run(chat, [speak(chat, true)])
    const input = [
      { type: 'function_call', call_id: 'call_Vendor1234', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_Vendor1234', output: 'ok' },
    ]
    const second = await run(chat, [], { body: { input } })
    expect([first.response, second.response]).toEqual(['chat/acme/scenario/00.response.sse', 'chat/acme/scenario/01.response.sse'])
    expectClean()
    const text = (file: string): string => readFileSync(join(folder, 'out', file), 'utf8')
    const id = /"id":"(call_[A-Za-z0-9]+)"/.exec(text(first.response))![1]!
    expect(id).toMatch(/^call_[A-Z][a-z]{5}\d{4}$/)
    expect(text(second.request)).toContain(`"tool_call_id":"${id}"`)
    expect(readRecordings(join(folder, 'out'), 'chat')).toHaveLength(2)
  })

  it('includes error answers, with the headers that say when to retry', async () => {
    const message =
      'Rate limit reached for acme-holding (org-AbCdEfGh12345678), request req_011CQabcdefghijk, arn:aws:bedrock:eu-west-1:123456789012:model/x'
    const recorded = await run(chat, [status(429, { error: { message } }, LEAKY_HEADERS)])
    expect(recorded).toMatchObject({ status: 429, features: ['http_error:429'] })
    expectClean()
    const [recording] = readRecordings(join(folder, 'out'), 'chat')
    expect(recording!.body.toString()).toContain('Rate limit reached for scrubbed')
    expect(readFileSync(join(folder, 'out/index.json'), 'utf8')).toContain('"retry-after": "7"')
  })

  it('needs a name that can be a folder, and a model that some provider serves', async () => {
    await expect(run(chat, [speak(chat, true)], { name: '../up' })).rejects.toThrow('--name')
    expect(upstream!.requests).toHaveLength(0)
  })
})

describe('scrubbing', () => {
  const scrubber = createScrubber({ secrets: [KEY], names: ['acme-holding'], scenario: 's' })
  it('removes account fields at any depth, and nothing else', () => {
    const body = {
      organization: 'whoever',
      user_id: 'u1',
      model: 'acme-1',
      choices: [{ delta: { content: 'user: jane' } }],
      owned_by: 'x',
      object: 'chat',
    }
    expect(JSON.parse(scrubber.text(JSON.stringify(body)))).toEqual({ ...body, organization: 'scrubbed', user_id: 'scrubbed', owned_by: 'scrubbed' })
  })
  it('keeps length, prefix and kinds of characters of ids and blobs', () => {
    const source = '{"id":"chatcmpl-AbC123xyz","signature":"EqQBCkgIARABGAIiQL+/aa=="}'
    const text = scrubber.text(source)
    expect(text).toHaveLength(source.length)
    expect(text).toMatch(/^\{"id":"chatcmpl-[A-Z][a-z][A-Z]\d{3}[a-z]{3}","signature":"[A-Za-z]+\+\/[a-z]{2}=="\}$/)
    expect(text).not.toContain('AbC123xyz')
    expect(scrubber.text(source)).toBe(text)
  })
  it('keeps only the headers a replay needs', () => {
    expect(scrubber.headers({ ...LEAKY_HEADERS, 'Content-Type': 'application/json', 'set-cookie': ['a', 'b'] })).toEqual({
      'content-type': 'application/json',
      'retry-after': '7',
    })
  })
  it('refuses to let a known secret through, plain, escaped or in base64', () => {
    const odd = createScrubber({ secrets: ['pass word+1'], names: [], scenario: 's' })
    for (const leak of ['x pass word+1 y', 'x=pass%20word%2B1', Buffer.from('pass word+1').toString('base64')])
      expect(() => odd.verify('the body', `before ${leak} after`)).toThrow('the body still holds a secret')
    expect(() => odd.verify('the body', 'harmless')).not.toThrow()
  })
})
