import { Agent, request as httpRequest } from 'node:http'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, TEST_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface FuzzStage {
  /** Upstreams by dialect, which answer everything successfully. The model of each is `acme/<dialect>`. */
  readonly upstreams: ReadonlyMap<string, FakeUpstream>
  send(path: string, options?: { readonly method?: string; readonly authorization?: string; readonly body?: string | Buffer }): Promise<Answer>
  close(): Promise<void>
}

export const DIALECTS: readonly string[] = [...VENDOR_VOICES.keys()]

/** A gateway in front of every format. Any failure there is the gateway's. */
export async function startFuzzStage(): Promise<FuzzStage> {
  const upstreams = new Map<string, FakeUpstream>()
  for (const voice of VENDOR_VOICES.values()) {
    const upstream = await startFakeUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': voice.contentType })
      for (const frame of voice.stream({ text: 'fine' })) response.write(frame)
      response.end()
    })
    upstreams.set(voice.dialect, upstream)
  }
  const gateway = await startGateway(configFor(upstreams))
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  return {
    upstreams,
    send: (path, options) => send(gateway, agent, path, options),
    async close() {
      agent.destroy()
      await gateway.close()
      for (const upstream of upstreams.values()) await upstream.close()
    },
  }
}

function configFor(upstreams: ReadonlyMap<string, FakeUpstream>): { readonly [key: string]: unknown } {
  const voices = [...VENDOR_VOICES.values()]
  return {
    server: { wrong_keys_per_minute: null },
    providers: voices.map((voice) => ({
      slug: `v-${voice.dialect}`,
      dialect: voice.dialect,
      base_url: upstreams.get(voice.dialect)!.url,
      api_keys: ['k'],
      options: voice.options,
      timeouts: { connect: '2s', first_token: '5s', idle: '5s', total: '10s' },
    })),
    models: voices.map((voice) => ({
      slug: `acme/${voice.dialect}`,
      context_length: 1_000_000,
      endpoints: [{ provider: `v-${voice.dialect}`, upstream_model: voice.model }],
    })),
    routing: { sticky: false, cooldown: false, retries: false },
  }
}

function send(gateway: TestGateway, agent: Agent, path: string, options: Parameters<FuzzStage['send']>[1] = {}): Promise<Answer> {
  const { method = 'POST', authorization = `Bearer ${TEST_KEY}`, body = '' } = options
  const headers = { authorization, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${gateway.url}/`, { agent, method, path, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const REFUSALS = new Set([400, 401, 402, 403, 404, 405, 408, 413, 415, 422, 429])

/** How an answer violates the contract, which allows a success, or a refusal in one envelope that blames the caller and reveals little. */
export function breachIn({ status, text }: Answer): string | undefined {
  if (status === 200) return text.includes('"error_type":"server"') ? `a failure of ours inside a success: ${text.slice(-500)}` : undefined
  if (!REFUSALS.has(status)) return `status ${status}: ${text.slice(0, 500)}`
  const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; metadata?: { error_type?: unknown } } }
  if (error?.code !== status) return `the envelope says ${String(error?.code)}, the status is ${status}`
  if (typeof error.message !== 'string' || error.message.length >= 1_024) return 'no message, or a long one'
  return typeof error.metadata?.error_type === 'string' ? undefined : 'no error_type'
}
