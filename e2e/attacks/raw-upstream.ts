import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** An upstream that answers with arbitrary bytes. */
export interface RawUpstream {
  /** Base URL up to the version. */
  readonly url: string
  /** Handles each request once it has arrived completely. */
  answer: (socket: Socket, request: string) => void | Promise<void>
  /** Heads and bodies of the requests so far. */
  readonly requests: string[]
  readonly sockets: ReadonlySet<Socket>
  close(): Promise<void>
}

const LENGTH = /\r\ncontent-length: (\d+)/i

/** `make` may wrap the server in TLS. */
export async function startRawUpstream(make: (onSocket: (socket: Socket) => void) => Server = (on) => createServer(on)): Promise<RawUpstream> {
  const sockets = new Set<Socket>()
  const server = make((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end === -1 || text.length < end + 4 + Number(LENGTH.exec(text)?.[1] ?? 0)) return
      upstream.requests.push(text)
      const request = text
      text = ''
      void upstream.answer(socket, request)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    answer: (socket) => void socket.destroy(),
    requests: [],
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return upstream
}

const json = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

/** A streamed chat answer in these pieces, as text. */
export function chatStream(...pieces: readonly string[]): string {
  const chunk = (delta: object, finish: string | null = null): string =>
    json({ id: 'c1', object: 'chat.completion.chunk', model: 'small-1', choices: [{ index: 0, delta, finish_reason: finish }] })
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  return [...pieces.map((content) => chunk({ content })), chunk({}, 'stop'), json({ id: 'c1', choices: [], usage }), 'data: [DONE]\n\n'].join('')
}

/** An answer with these headers and this body, which ends with the connection. */
export const answerWith =
  (headers: readonly string[], body: string | Buffer, status = '200 OK') =>
  (socket: Socket): void => {
    socket.write(`HTTP/1.1 ${status}\r\n${[...headers, 'connection: close'].join('\r\n')}\r\n\r\n`)
    socket.end(body)
  }
export const EVENTS = 'content-type: text/event-stream'
