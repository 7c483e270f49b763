import type { IncomingMessage } from 'node:http'
import { asGatewayError, GatewayError } from '../core/error.ts'
import { JsonError, parseJson } from '../lib/json.ts'
import { atTurnEnd } from '../lib/turn-end.ts'
import type { BodyHold } from './body-memory.ts'
import { sendContinue } from './expect-continue.ts'
import { lingerAfter } from './linger.ts'

const AS_IT_IS: readonly string[] = ['', 'identity']

/** Bodies must come uncompressed. Throws GatewayError `invalid_request`. */
export function refuseEncoding(encoding: string | undefined): void {
  if (encoding === undefined || AS_IT_IS.includes(encoding.trim().toLowerCase())) return
  throw new GatewayError('invalid_request', `content-encoding ${encoding.slice(0, 40)} is not accepted; send the body uncompressed`)
}

export interface ReadBodyOptions {
  readonly limitBytes: number
  /** How long the body may pause, milliseconds. */
  readonly stallMs?: number | undefined
  /** The memory it takes. Default: unlimited. */
  readonly hold?: Pick<BodyHold, 'announce' | 'grow'>
  /** Asked again once a body is whole that did not come with its head: it may have taken minutes, and the caller's key may have ended meanwhile. */
  readonly letIn?: () => unknown
}

/**
 * The raw body, counted as it arrives, so that neither a missing nor a false `content-length` gets past the limit.
 * Throws GatewayError `payload_too_large`, `provider_overloaded` (no memory), `invalid_request` (an encoding that is not accepted), or `timeout` if
 * the caller stops sending, and what `letIn` throws.
 */
export async function readBody(request: IncomingMessage, { limitBytes, stallMs = 30_000, hold, letIn }: ReadBodyOptions): Promise<Buffer> {
  refuseEncoding(request.headers['content-encoding'])
  const tooLarge = (): GatewayError => {
    lingerAfter(request)
    return new GatewayError('payload_too_large', `The body is larger than the limit of ${limitBytes} bytes`, { headers: { connection: 'close' } })
  }
  const noRoomFor = (bytes: number, claim: 'announce' | 'grow'): GatewayError | undefined => {
    try {
      hold?.[claim](bytes)
      return undefined
    } catch (error) {
      lingerAfter(request)
      return asGatewayError(error)
    }
  }
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limitBytes) throw tooLarge()
  const early = noRoomFor(announced, 'announce')
  if (early !== undefined) throw early
  sendContinue(request)
  const chunks: Buffer[] = []
  let size = 0
  // The listeners stay on the request, because removing four costs more than everything else here. The request lives as long as its answer, but the
  // body need not: once it is read nothing here refers to it any more, including the promise that carried it.
  let waiting: PromiseWithResolvers<Buffer> | undefined = Promise.withResolvers()
  const { promise } = waiting
  const settle = (): PromiseWithResolvers<Buffer> | undefined => {
    const settled = waiting
    waiting = undefined
    clearTimeout(timer)
    return settled
  }
  const fail = (error: GatewayError): void => settle()?.reject(error)
  // Most bodies arrive with their head and need no timer.
  let timer: NodeJS.Timeout | undefined
  atTurnEnd(() => {
    const tooSlow = (): void => fail(new GatewayError('timeout', 'The body came too slowly', { headers: { connection: 'close' } }))
    if (waiting !== undefined) timer = setTimeout(tooSlow, stallMs)
  })
  const onGone = (): void => {
    if (waiting !== undefined) fail(new GatewayError('invalid_request', 'The connection closed before the whole body had arrived'))
  }
  request.on('data', (chunk: Buffer) => {
    if (waiting === undefined) return
    size += chunk.length
    timer?.refresh()
    const refusal = size > limitBytes ? tooLarge() : noRoomFor(size, 'grow')
    if (refusal === undefined) return void chunks.push(chunk)
    chunks.length = 0
    fail(refusal)
  })
  request.on('end', () => {
    const settled = settle()
    if (settled === undefined) return
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    chunks.length = 0
    atTurnEnd(() => settled.resolve(timer === undefined || letIn === undefined ? body : onceLetIn(letIn, body)))
  })
  request.on('close', onGone)
  request.on('error', onGone)
  return promise
}

async function onceLetIn(letIn: () => unknown, body: Buffer): Promise<Buffer> {
  await letIn()
  return body
}

/** The parsed body, within the bounds of `parseJson`. Throws GatewayError `invalid_request`. */
export function jsonOf(body: Buffer): unknown {
  try {
    return parseJson(body)
  } catch (error) {
    if (error instanceof JsonError) throw new GatewayError('invalid_request', `The body is not valid JSON: ${error.message}`)
    throw error
  }
}
