import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../core/item.ts'

/** Writes the answer to one message, valid or not. */
export type RawAnswer = (response: ServerResponse, message: JsonObject, request: IncomingMessage) => unknown

/** A streamable HTTP server without an SDK: the test decides the answer to each method. */
export interface RawMcpServer {
  readonly url: string
  /** Methods of messages, `GET` and `DELETE` for other requests, `reply` for answers to the server's own questions. */
  readonly heard: readonly string[]
  /** Their bodies, unparsed. */
  readonly bodies: readonly string[]
  /** Answers by what was heard; all others get a correct answer. */
  answer(answers: { readonly [heard: string]: RawAnswer }): void
  close(): Promise<void>
}

const RESULTS: { readonly [method: string]: JsonObject } = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } },
  'tools/list': { tools: [{ name: 'add', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}

/** One message as the whole answer, in JSON. */
export function inJson(response: ServerResponse, message: unknown, status = 200, headers: { readonly [name: string]: string } = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(message))
}

/** Messages on a stream that ends after them, without ids, so that it cannot be resumed. */
export function inEvents(response: ServerResponse, ...messages: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join(''))
}

/** A correct result for a method. */
export const usualAnswer = ({ id, method }: JsonObject): JsonObject => {
  const result = RESULTS[String(method)]
  return { jsonrpc: '2.0', id: id ?? null, ...(result === undefined ? { error: { code: -32_601, message: 'Method not found' } } : { result }) }
}

export async function startRawMcpServer(): Promise<RawMcpServer> {
  const heard: string[] = []
  const bodies: string[] = []
  let answers: { readonly [heard: string]: RawAnswer } = {}
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const message = (body === '' ? {} : JSON.parse(body)) as JsonObject & { readonly method?: string }
      const kind = request.method === 'POST' ? (message.method ?? 'reply') : request.method!
      heard.push(kind)
      bodies.push(body)
      const own = answers[kind]
      if (own !== undefined) own(response, message, request)
      else if (request.method === 'GET') response.writeHead(405).end()
      else if (message['id'] === undefined || message.method === undefined) response.writeHead(202).end()
      else inJson(response, usualAnswer(message))
    })().catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    heard,
    bodies,
    answer: (given) => {
      answers = given
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
