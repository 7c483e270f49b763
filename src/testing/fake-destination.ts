import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** Decompressed. */
  readonly body: Buffer
  readonly at: number
}

/** How the receiver reacts to one request. */
export type Reaction =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers?: { readonly [name: string]: string }
      readonly body?: string
      readonly afterMs?: number
    }
  /** Reads the body and never answers. */
  | { readonly kind: 'hang' }
  /** Reads the body, then cuts the connection: the sender cannot know whether it arrived. */
  | { readonly kind: 'reset' }
  /** Reads the body and begins an answer with this status that never ends, or ends with the connection. */
  | { readonly kind: 'unfinished'; readonly status: number; readonly cut: boolean }

export interface FakeDestination {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Bodies of the requests answered with 2xx: what a platform would have kept. */
  readonly accepted: readonly ReceivedRequest[]
  /** Decides by request and its number (from 0); may be changed at any time. */
  react: (request: ReceivedRequest, number: number) => Reaction
  close(): Promise<void>
}

export const ok: Reaction = { kind: 'answer', status: 200, body: '{}' }
export const answer = (status: number, headers: { readonly [name: string]: string } = {}, body = ''): Reaction => ({
  kind: 'answer',
  status,
  headers,
  body,
})

/** A real HTTP server on loopback with scripted reactions. */
export async function startFakeDestination(react: FakeDestination['react'] = () => ok): Promise<FakeDestination> {
  const requests: ReceivedRequest[] = []
  const accepted: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const raw = Buffer.concat(chunks)
      const received: ReceivedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw,
        at: Date.now(),
      }
      const number = requests.push(received) - 1
      perform(fake.react(received, number), request, response, () => accepted.push(received))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const fake: FakeDestination = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    accepted,
    react,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return fake
}

function perform(reaction: Reaction, request: IncomingMessage, response: ServerResponse, accept: () => void): void {
  if (reaction.kind === 'hang') return
  if (reaction.kind === 'reset') {
    accept()
    request.socket.resetAndDestroy()
    return
  }
  if (reaction.kind === 'unfinished') {
    if (reaction.status < 300) accept()
    response.writeHead(reaction.status).write('{')
    if (reaction.cut) setTimeout(() => request.socket.resetAndDestroy(), 10)
    return
  }
  const { status, headers, body, afterMs = 0 } = reaction
  setTimeout(() => {
    if (status >= 200 && status < 300) accept()
    response.writeHead(status, headers).end(body)
  }, afterMs)
}
