import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generationSpans } from './received-spans.ts'

/** An OTLP JSON receiver that keeps one digest per generation: for drills whose bodies would not fit into memory. */
export interface SpanLedger {
  readonly url: string
  /** Ids that arrived, with the time of their first arrival (milliseconds since the epoch). */
  readonly arrivals: ReadonlyMap<string, number>
  /** Repeated arrivals of an id: at-least-once delivery may repeat, but not contradict. */
  readonly repeated: number
  /** Ids that arrived with two different contents. */
  readonly contradicting: ReadonlySet<string>
  /** How many milliseconds to delay each answer; may be changed at any time. */
  holdMs: number
  close(): Promise<void>
}

export async function startSpanLedger(): Promise<SpanLedger> {
  const arrivals = new Map<string, number>()
  const digests = new Map<string, string>()
  const contradicting = new Set<string>()
  let repeated = 0

  const enter = (body: Buffer): void => {
    for (const { generationId, span } of generationSpans([{ body }])) {
      const digest = createHash('sha256').update(JSON.stringify(span)).digest('base64')
      const before = digests.get(generationId)
      if (before === undefined) {
        digests.set(generationId, digest)
        arrivals.set(generationId, Date.now())
        continue
      }
      repeated++
      if (before !== digest) contradicting.add(generationId)
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      enter(Buffer.concat(chunks))
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'), ledger.holdMs)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ledger: SpanLedger = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    get repeated() {
      return repeated
    },
    contradicting,
    holdMs: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return ledger
}
