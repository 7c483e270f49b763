import { request } from 'node:http'
import { createSseParser } from '../src/lib/sse.ts'
import type { CallerFormat } from './load/answer-check.ts'
import { answerText, USAGE } from './mock/script.ts'
import { requestBody, type Need } from './requests.ts'
import type { BenchContext, RunningTarget, Target } from './targets/target.ts'

export interface Verified {
  /** Why the target does not support this scene; undefined if its answer is exactly right. */
  readonly problem: string | undefined
  /** The number of text pieces that it streams; 0 for JSON. */
  readonly pieces: number
}

interface Reading {
  readonly pieces: readonly string[]
  readonly text: string
  readonly outputTokens: number | undefined
}

const LIMIT_MS = 10_000

/** Sends one request through the target and verifies the answer: the text must be what the mock said, and the usage what it counted. */
export async function verify(target: Target, running: RunningTarget, context: BenchContext, { scene, stream, prompt }: Need): Promise<Verified> {
  try {
    const { status, body } = await post(target, running, context, requestBody(target, scene, stream, prompt))
    if (status !== 200) return { problem: `status ${status}: ${body.slice(0, 160).replace(/\s+/g, ' ')}`, pieces: 0 }
    const reading = stream ? READERS[target.format].stream(body) : READERS[target.format].json(body)
    if (reading.text !== answerText(scene)) return { problem: `wrong text: ${JSON.stringify(reading.text.slice(0, 80))}`, pieces: 0 }
    if (stream && reading.pieces.join('') !== reading.text) return { problem: 'the pieces do not add up to the text', pieces: 0 }
    if (reading.outputTokens !== USAGE.completion_tokens) return { problem: `wrong usage: ${reading.outputTokens ?? 'none'}`, pieces: 0 }
    return { problem: undefined, pieces: reading.pieces.length }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), pieces: 0 }
  }
}

interface Chat {
  readonly choices?: readonly { readonly message?: { readonly content?: string }; readonly delta?: { readonly content?: string } }[]
  readonly usage?: { readonly completion_tokens?: number } | null
}
interface Resource {
  readonly output?: readonly { readonly type: string; readonly content?: readonly { readonly text?: string }[] }[]
  readonly usage?: { readonly output_tokens?: number }
}
interface WireEvent {
  readonly type: string
  readonly delta?: string
  readonly response?: Resource
}

const textOf = (resource: Resource): string =>
  (resource.output ?? []).flatMap((item) => (item.type === 'message' ? (item.content ?? []).map((part) => part.text ?? '') : [])).join('')

interface Reader {
  json(body: string): Reading
  stream(body: string): Reading
}

const chat: Reader = {
  json(body) {
    const answer = JSON.parse(body) as Chat
    return { pieces: [], text: answer.choices?.[0]?.message?.content ?? '', outputTokens: answer.usage?.completion_tokens }
  },
  stream(body) {
    const chunks = upToDone(body).map((data) => JSON.parse(data) as Chat)
    const pieces = chunks.map((chunk) => chunk.choices?.[0]?.delta?.content ?? '').filter((piece) => piece !== '')
    return { pieces, text: pieces.join(''), outputTokens: chunks.find((chunk) => chunk.usage != null)?.usage?.completion_tokens }
  },
}

const responses = (events: (body: string) => readonly string[]): Reader => ({
  json(body) {
    const resource = JSON.parse(body) as Resource
    return { pieces: [], text: textOf(resource), outputTokens: resource.usage?.output_tokens }
  },
  stream(body) {
    const wire = events(body).map((data) => JSON.parse(data) as WireEvent)
    const pieces = wire.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta ?? '')
    const final = wire.find(({ type }) => type === 'response.completed')?.response ?? {}
    return { pieces, text: textOf(final), outputTokens: final.usage?.output_tokens }
  },
})

const READERS: { readonly [F in CallerFormat]: Reader } = { chat, responses: responses(upToDone), 'responses-bare': responses(dataOf) }

/** The data of every event. */
function dataOf(body: string): string[] {
  const all: string[] = []
  const parser = createSseParser((data) => void all.push(data))
  parser.push(Buffer.from(body))
  parser.end()
  return all
}

/** The data of every event before `[DONE]`, which must be present. */
function upToDone(body: string): readonly string[] {
  const all = dataOf(body)
  if (all.pop() !== '[DONE]') throw new Error('the stream has no [DONE]')
  return all
}

function post(target: Target, running: RunningTarget, context: BenchContext, body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...target.headers(context) }
    const call = request(
      { host: '127.0.0.1', port: running.port, method: 'POST', path: target.path, headers, agent: false, timeout: LIMIT_MS },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
        response.on('error', reject)
      },
    )
    call.on('timeout', () => call.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)))
    call.on('error', reject)
    call.end(body)
  })
}
