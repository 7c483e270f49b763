import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Recording } from './recordings.ts'

export interface ReplayServer {
  /** Base URL for a provider. */
  readonly url: string
  close(): Promise<void>
}

/** Upstream model ids for the n-th recording: sent in one piece, or cut at random bytes. */
export const replayModel = (n: number, how: 'whole' | 'cut'): string => `rec-${n}-${how}`

/** A pseudo-random sequence in [0, 1), the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Answers every request with the recording that its model names, whether the format has the model in the body or in the path. */
export async function startReplayServer(recordings: readonly Recording[]): Promise<ReplayServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [, n, how] = /\brec-(\d+)-(whole|cut)\b/.exec(`${request.url} ${Buffer.concat(chunks).toString()}`) ?? []
      const recording = recordings[Number(n)]
      if (recording === undefined) return void response.writeHead(500).end('no such recording')
      response.writeHead(recording.status, { 'content-type': recording.contentType })
      if (how === 'whole') response.end(recording.body)
      else void writeInPieces(response, recording.body, seeded(Number(n)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Pieces from one byte to a few kilobytes, each with a write and a turn of the event loop of its own. */
async function writeInPieces(response: ServerResponse, body: Buffer, random: () => number): Promise<void> {
  response.socket?.setNoDelay(true)
  for (let at = 0; at < body.length && !response.destroyed;) {
    const size = Math.ceil(2 ** (random() * 12))
    response.write(body.subarray(at, at + size))
    at += size
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
}
