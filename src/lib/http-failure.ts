import { isOfProxy } from './tunnel.ts'

/** `exhausted`: this process or machine has run out of what a connection needs; the server is not at fault. */
export type HttpFailureKind = 'connect-timeout' | 'connect' | 'exhausted' | 'reset' | 'cancelled' | 'protocol'

/** Why an exchange failed below HTTP. `sent` is true if the request may have reached the server. */
export class HttpFailure extends Error {
  readonly kind: HttpFailureKind
  readonly sent: boolean
  /** The request was sent a second time, over a new connection, and that was lost as well before any answer: a third time would be one too many. */
  twice = false

  constructor(kind: HttpFailureKind, message: string, sent: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'HttpFailure'
    this.kind = kind
    this.sent = sent
  }
}

const CONNECT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EACCES'])

/** The limits that these report: files of this process, files of the machine, memory of its network. */
const EXHAUSTED_CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])

const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** The connection broke, for whatever reason. */
export const isLostConnection = (error: Error): boolean => 'code' in error && LOST_CODES.has(String(error.code))

/**
 * Whether the answer breaks HTTP in a way for which the parser has no code. The parser also reports an answer that ends too early, which is a lost
 * connection instead.
 */
const breaksHttp = ({ name, message }: Error): boolean => name === 'HTTPParserError' && !message.includes('EOF')

/** What undici reported, as a failure. `sent`: the request may have reached the server. */
export function toFailure(error: Error, sent: boolean): HttpFailure {
  if (error instanceof HttpFailure) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return new HttpFailure('connect-timeout', 'connecting took too long', false, error)
  if (isOfProxy(error) && !EXHAUSTED_CODES.has(code)) return new HttpFailure('connect', `could not connect through the proxy (${code})`, false, error)
  if (CONNECT_CODES.has(code) || code.startsWith('ERR_TLS') || code.startsWith('CERT_') || code.includes('CERT') || code.startsWith('ERR_SSL')) {
    return new HttpFailure('connect', `could not connect (${code})`, false, error)
  }
  if (EXHAUSTED_CODES.has(code)) return new HttpFailure('exhausted', `no connection could be opened (${code})`, false, error)
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new HttpFailure('protocol', `the answer breaks HTTP (${code})`, sent, error)
  }
  if (breaksHttp(error)) return new HttpFailure('protocol', 'the answer breaks HTTP', sent, error)
  return new HttpFailure('reset', `the connection ended early${code ? ` (${code})` : ''}`, sent, error)
}
