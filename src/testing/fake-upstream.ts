import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readByPeer } from './read-by-peer.ts'

/** One request as the upstream saw it. */
export interface SeenRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: { readonly [field: string]: unknown }
  readonly at: number
  /** Set if the caller disconnected before the answer was complete. */
  abortedAt?: number
}

export type Reply = (request: SeenRequest, response: ServerResponse) => void | Promise<void>

export interface FakeUpstream {
  /** Base URL up to the version: `http://127.0.0.1:PORT/v1`. */
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Replies for the next requests, in order; the last one repeats. */
  script(...replies: readonly Reply[]): void
  openSockets(): number
  close(): Promise<void>
}

/** A real HTTP server on loopback whose behaviour is scripted, faults included. */
export async function startFakeUpstream(...replies: readonly Reply[]): Promise<FakeUpstream> {
  let script: readonly Reply[] = replies
  let next = 0
  const requests: SeenRequest[] = []
  let sockets = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const seen: SeenRequest = {
        path: request.url ?? '',
        headers: request.headers,
        at: performance.now(),
        body: text === '' ? {} : (JSON.parse(text) as SeenRequest['body']),
      }
      requests.push(seen)
      response.on('close', () => {
        if (!response.writableFinished) seen.abortedAt = performance.now()
      })
      const reply = script[Math.min(next++, script.length - 1)]
      if (reply === undefined) response.writeHead(500).end('no reply scripted')
      else void reply(seen, response)
    })
  })
  server.on('connection', (socket) => {
    sockets++
    socket.on('close', () => sockets--)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script(...more) {
      script = more
      next = 0
    },
    openSockets: () => sockets,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

// ---- replies ----

export const status =
  (code: number, body: unknown, headers: { readonly [name: string]: string } = {}): Reply =>
  (_request, response) =>
    void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body))

/** Accepts the request and never answers. */
export const silence = (): Reply => () => undefined

/** Closes the connection before any header. */
export const reset = (): Reply => (_request, response) => void response.socket?.resetAndDestroy()

export interface StreamOptions {
  /** Milliseconds before the first event and between events. */
  readonly firstMs?: number
  readonly everyMs?: number
  /** What happens after the last event: a clean end (default), a reset once the caller has read all of it, or silence. */
  readonly then?: 'end' | 'reset' | 'hang'
  readonly contentType?: string
}

/** Server-sent events, one write each. A string is sent as raw bytes, anything else as `data: JSON`. */
export const stream =
  (events: readonly unknown[], options: StreamOptions = {}): Reply =>
  async (_request, response) => {
    response.writeHead(200, { 'content-type': options.contentType ?? 'text/event-stream' })
    response.flushHeaders()
    if (options.firstMs !== undefined) await wait(options.firstMs)
    for (const event of events) {
      if (response.destroyed) return
      response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)
      if (options.everyMs !== undefined) await wait(options.everyMs)
    }
    if (options.then === 'reset') {
      if (response.socket !== null) await readByPeer(response.socket)
      response.socket?.resetAndDestroy()
    } else if (options.then !== 'hang') response.end()
  }

// ---- chat completions, in OpenAI's format ----

const chunk = (delta: object, finish: string | null = null, extra: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'small-1',
  ...extra,
  choices: [{ index: 0, delta, finish_reason: finish }],
})

export const CHAT_USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, prompt_tokens_details: { cached_tokens: 3 } }

export const chatEvents = {
  role: (): object => chunk({ role: 'assistant', content: '' }),
  text: (content: string): object => chunk({ content }),
  reasoning: (text: string): object => chunk({ reasoning_content: text }),
  call: (index: number, id: string, name: string, args: string): object =>
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] }),
  args: (index: number, args: string): object => chunk({ tool_calls: [{ index, function: { arguments: args } }] }),
  finish: (reason = 'stop'): object => chunk({}, reason),
  usage: (usage: object = CHAT_USAGE): object => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'small-1', choices: [], usage }),
  done: (): string => 'data: [DONE]\n\n',
}

/** A whole streamed text answer, cut into the given pieces. */
export function chatText(...pieces: readonly string[]): unknown[] {
  return [chatEvents.role(), ...pieces.map((piece) => chatEvents.text(piece)), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]
}

/** A text answer as a JSON body. */
export function chatJson(content: string): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'small-1',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: CHAT_USAGE,
  }
}
