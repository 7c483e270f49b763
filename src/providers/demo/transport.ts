import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InProcessTransport } from '../../core/provider.ts'
import { nextTurn } from '../../lib/next-turn.ts'
import { embed } from './embed.ts'
import { createRenderer } from './frames.ts'
import { readPrompt, type Prompt } from './prompt.ts'
import { DEMO_MODELS, type Beat, type DemoModel } from './script.ts'

type Answer = Awaited<ReturnType<InProcessTransport>>

const MODELS: ReadonlyMap<string, DemoModel> = new Map(DEMO_MODELS.map((model) => [model.id, model]))

/**
 * After this many beats the process serves other requests. Words that never wait for a socket would otherwise block it, a megabyte of them for
 * seconds.
 */
const BEATS_A_TURN = 100

/** An upstream that follows a script: no socket, no network, and the same answer to the same request. */
export function createDemoTransport(): InProcessTransport {
  let count = 0
  return async (request, signal) => {
    signal.throwIfAborted()
    if (request.path === '/embeddings') return embedAnswer(request.body)
    const prompt = readPrompt(request.body)
    const model = MODELS.get(prompt.model)
    if (model === undefined) return errorAnswer(404, `The demo provider has no model ${JSON.stringify(prompt.model)}.`)
    if (model.play === undefined) return errorAnswer(model.status ?? 500, `(simulated) ${model.name}`)
    const type = prompt.stream ? 'text/event-stream' : 'application/json'
    return { status: 200, headers: { 'content-type': type }, body: perform(model.play(prompt), prompt, `demo-${++count}`, signal) }
  }
}

async function* perform(beats: readonly Beat[], prompt: Prompt, id: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const renderer = createRenderer(prompt, id)
  for (const [i, beat] of beats.entries()) {
    if (i % BEATS_A_TURN === BEATS_A_TURN - 1) await nextTurn()
    signal.throwIfAborted()
    if (beat.type === 'cut') throw new Error('the simulated connection was cut')
    if (beat.type === 'silence') await aborted(signal)
    if (beat.type === 'wait') {
      await sleep(beat.ms, undefined, { signal })
      continue
    }
    const bytes = renderer.add(beat)
    if (bytes === undefined) break
    if (bytes.length > 0) yield bytes
  }
  yield renderer.end()
}

/** Rejects when the signal fires. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  signal.throwIfAborted()
}

function errorAnswer(status: number, message: string): Answer {
  const body = Buffer.from(JSON.stringify({ error: { message, type: 'simulated_error', code: status } }))
  const headers = { 'content-type': 'application/json', ...(status === 429 || status === 503 ? { 'retry-after': '1' } : {}) }
  return { status, headers, body: one(body) }
}

function embedAnswer(request: string): Answer {
  const { status, body } = embed(request)
  return { status, headers: { 'content-type': 'application/json' }, body: one(Buffer.from(JSON.stringify(body))) }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
