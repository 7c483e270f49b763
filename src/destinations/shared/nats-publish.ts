import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/**
 * The part of the NATS client protocol that a publisher needs: one connection, messages with headers, acknowledgements of streams. Written by hand
 * because it is a line protocol of six verbs, while the official client brings five packages and a reconnecting state machine.
 */

export interface NatsServer {
  readonly host: string
  readonly port: number
  /** Encrypt even if the server does not insist. */
  readonly tls: boolean
  readonly token?: string
  readonly user?: string
  readonly password?: string
}

export interface NatsMessage {
  readonly subject: string
  readonly headers: { readonly [name: string]: string }
  readonly payload: string
}

/** The stream's answer to one message; `code` is the server's, 404 if no stream takes the subject, 413 if it takes only smaller messages. */
export type NatsAck = { readonly ok: true } | { readonly ok: false; readonly code: number; readonly message: string }

/** The server refuses this connection or these messages. `code` in HTTP's terms: 401, 403 or 413. */
export class NatsError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'NatsError'
    this.code = code
  }
}

/**
 * Publishes messages over a connection of their own. With `acknowledged` it waits until a stream has stored each of them, otherwise only until the
 * server has read them. Rejects with NatsError if the server refuses, with any other error if the connection fails.
 */
export async function publishAll(
  server: NatsServer,
  messages: readonly NatsMessage[],
  options: { readonly acknowledged: boolean; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly NatsAck[]> {
  const limit = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)])
  const link = new Link(connectTcp({ host: server.host, port: server.port, signal: limit }), limit)
  try {
    const info = await link.info()
    const largest = messages.reduce((size, { payload }) => Math.max(size, Buffer.byteLength(payload)), 0)
    if (largest > info.maxPayload) throw new NatsError(413, `a message of ${largest} bytes exceeds the server's limit of ${info.maxPayload}`)
    if (server.tls || info.tlsRequired) await link.encrypt(server.host)
    link.write(`CONNECT ${JSON.stringify(connectOptions(server))}\r\n`)
    await link.ping()
    return await (options.acknowledged ? publishAcknowledged(link, info.inbox, messages) : publishPlain(link, messages))
  } finally {
    link.close()
  }
}

const connectOptions = ({ token, user, password }: NatsServer): object => ({
  verbose: false,
  pedantic: false,
  headers: true,
  no_responders: true,
  lang: 'typescript',
  version: '1',
  name: 'gateway',
  ...(token === undefined ? {} : { auth_token: token }),
  ...(user === undefined ? {} : { user, pass: password ?? '' }),
})

function frame({ subject, headers, payload }: NatsMessage, reply: string): string {
  const head = `NATS/1.0\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
  const size = Buffer.byteLength(head)
  return `HPUB ${subject} ${reply}${size} ${size + Buffer.byteLength(payload)}\r\n${head}${payload}\r\n`
}

async function publishPlain(link: Link, messages: readonly NatsMessage[]): Promise<readonly NatsAck[]> {
  for (const message of messages) link.write(frame(message, ''))
  await link.ping()
  return messages.map(() => ({ ok: true }))
}

async function publishAcknowledged(link: Link, inbox: string, messages: readonly NatsMessage[]): Promise<readonly NatsAck[]> {
  const acks: (NatsAck | undefined)[] = messages.map(() => undefined)
  const all = new Promise<void>((resolve) => {
    let open = messages.length
    if (open === 0) resolve()
    link.onMessage = (subject, head, payload) => {
      const index = Number(subject.slice(inbox.length + 1))
      if (!(index in acks) || acks[index] !== undefined) return
      acks[index] = readAck(head, payload)
      if (--open === 0) resolve()
    }
  })
  link.write(`SUB ${inbox}.* 1\r\n`)
  for (const [index, message] of messages.entries()) link.write(frame(message, `${inbox}.${index} `))
  await Promise.race([all, link.failure])
  return acks.map((ack) => ack ?? { ok: false, code: 504, message: 'not acknowledged' })
}

/** The stream error for messages above `max_msg_size`. */
const EXCEEDS_MAXIMUM = 10_054

function readAck(head: string, payload: string): NatsAck {
  if (head.startsWith('NATS/1.0 503')) return { ok: false, code: 404, message: 'no stream takes this subject' }
  try {
    const { error, seq } = JSON.parse(payload) as {
      readonly error?: { readonly code?: unknown; readonly err_code?: unknown; readonly description?: unknown }
      readonly seq?: unknown
    }
    if (error === undefined && typeof seq === 'number') return { ok: true }
    const code = error?.err_code === EXCEEDS_MAXIMUM ? 413 : typeof error?.code === 'number' ? error.code : 500
    return { ok: false, code, message: typeof error?.description === 'string' ? error.description.slice(0, 300) : 'the stream did not store it' }
  } catch {
    return { ok: false, code: 500, message: 'the acknowledgement cannot be read' }
  }
}

interface ServerInfo {
  readonly maxPayload: number
  readonly tlsRequired: boolean
  /** A subject that nobody else listens to, because servers number their clients. */
  readonly inbox: string
}

const MAX_BUFFER = 4 * 1024 * 1024

/** A connection: cuts the stream into lines and messages, and fails everything that waits when it breaks. */
class Link {
  onMessage: (subject: string, head: string, payload: string) => void = () => {}
  /** Never resolves; rejects if the connection ends before we end it. */
  readonly failure: Promise<never>
  #socket: Socket
  #buffer: Buffer = Buffer.alloc(0)
  #fail: (error: Error) => void = () => {}
  #onInfo: (info: ServerInfo) => void = () => {}
  readonly #info: Promise<ServerInfo>
  readonly #pongs: (() => void)[] = []

  constructor(socket: Socket, limit: AbortSignal) {
    this.#socket = socket
    this.failure = new Promise((_resolve, reject) => (this.#fail = reject))
    this.failure.catch(() => {})
    this.#info = new Promise((resolve) => (this.#onInfo = resolve))
    limit.addEventListener('abort', () => this.#fail(new Error('the server did not answer in time')), { once: true })
    this.#listen(socket)
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  info(): Promise<ServerInfo> {
    return Promise.race([this.#info, this.failure])
  }

  async encrypt(host: string): Promise<void> {
    const plain = this.#socket
    plain.removeAllListeners('data')
    // Unencrypted bytes after the greeting cannot be trusted to come from the server.
    this.#buffer = Buffer.alloc(0)
    const secure = connectTls({ socket: plain, host, ...(isIP(host) === 0 ? { servername: host } : {}) })
    this.#socket = secure
    this.#listen(secure)
    await Promise.race([new Promise<void>((resolve) => secure.once('secureConnect', resolve)), this.failure])
  }

  write(text: string): void {
    this.#socket.write(text)
  }

  /** Resolves when the server has read everything written before. */
  async ping(): Promise<void> {
    const answered = new Promise<void>((resolve) => this.#pongs.push(resolve))
    this.write('PING\r\n')
    await Promise.race([answered, this.failure])
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    if (this.#buffer.length > MAX_BUFFER) return this.#fail(new Error('the server sent too much'))
    for (;;) {
      const end = this.#buffer.indexOf('\r\n')
      if (end < 0) return
      const line = this.#buffer.toString('latin1', 0, end)
      const used = this.#handle(line, end + 2)
      if (used === undefined) return
      this.#buffer = this.#buffer.subarray(used)
    }
  }

  /** The number of bytes used, or undefined if the message is not complete yet. */
  #handle(line: string, at: number): number | undefined {
    const [verb = '', ...words] = line.split(' ')
    switch (verb.toUpperCase()) {
      case 'MSG':
      case 'HMSG': {
        const total = Number(words.at(-1))
        const head = verb.toUpperCase() === 'HMSG' ? Number(words.at(-2)) : 0
        if (!Number.isSafeInteger(total) || !Number.isSafeInteger(head) || total > MAX_BUFFER) {
          this.#fail(new Error('the server sent a malformed message'))
          return at
        }
        if (this.#buffer.length < at + total + 2) return undefined
        this.onMessage(words[0] ?? '', this.#buffer.toString('utf8', at, at + head), this.#buffer.toString('utf8', at + head, at + total))
        return at + total + 2
      }
      case 'INFO':
        this.#onInfo(readInfo(line.slice(5)))
        return at
      case 'PING':
        this.write('PONG\r\n')
        return at
      case 'PONG':
        this.#pongs.shift()?.()
        return at
      case '-ERR':
        this.#fail(toError(line.slice(5)))
        return at
      default:
        return at
    }
  }
}

function readInfo(text: string): ServerInfo {
  let info: { readonly [name: string]: unknown } = {}
  try {
    info = JSON.parse(text) as typeof info
  } catch {
    // For a server without a readable greeting the protocol's defaults are assumed.
  }
  const id = typeof info['server_id'] === 'string' ? info['server_id'].replace(/[^A-Za-z0-9]/g, '') : 'server'
  return {
    maxPayload: typeof info['max_payload'] === 'number' ? info['max_payload'] : 1_048_576,
    tlsRequired: info['tls_required'] === true,
    inbox: `_INBOX.gateway.${id}.${Number(info['client_id'] ?? 0)}`,
  }
}

function toError(text: string): NatsError {
  const message = text.replace(/^'|'$/g, '').slice(0, 300)
  if (/authorization violation|authentication|expired|revoked/i.test(message)) return new NatsError(401, message)
  if (/permissions violation|account/i.test(message)) return new NatsError(403, message)
  if (/maximum payload/i.test(message)) return new NatsError(413, message)
  return new NatsError(503, message)
}
