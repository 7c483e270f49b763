/**
 * The upstream behind every gateway under test: chat completions on a raw socket, from prebuilt bytes, so that it costs next to nothing.
 *
 *   node bench/mock/upstream.ts PORT
 *
 * The model's name chooses the scene (bench-json, bench-burst, ...: see script.ts). `"stream":true` is always answered with SSE, anything else with JSON.
 * A GET is answered with 200, for readiness probes; so are requests meant for a collector of spans.
 */
import { createServer, type Socket } from 'node:net'
import { answerText, COLLECTOR_PATH, PACED_INTERVAL_MS, PIECES, SCENES, upstreamModel, USAGE, type Scene } from './script.ts'

/** A collector gets several large calls in one request, each in more than one spelling. */
const MAX_REQUEST = 64 * 1024 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')
const STREAM_TRUE = /"stream" ?: ?true/

interface Prepared {
  readonly json: Buffer
  /** Head of a stream's answer. */
  readonly head: Buffer
  /** One framed chunk per event. */
  readonly events: readonly Buffer[]
  /** The whole answer for a single write; each event keeps a chunk of its own, as from servers that flush after each event. */
  readonly block: Buffer
}

const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

function prepare(scene: Scene): Prepared {
  const base = { id: 'chatcmpl-bench', created: 1_700_000_000, model: upstreamModel(scene), system_fingerprint: 'fp_bench' }
  const event = (choices: readonly object[], extra: object = {}): string =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...extra })}\n\n`
  const delta = (content: string): string => event([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }])
  const first = event([{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }])
  const last = event([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]) + event([], { usage: USAGE }) + 'data: [DONE]\n\n'
  const pieces = PIECES[scene].map(delta)
  const body = JSON.stringify({
    ...base,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: answerText(scene), refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: USAGE,
  })
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n'
  const events = [first, ...pieces, last].map(chunk)
  return {
    json: Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    head: Buffer.from(head),
    events: events.map((text) => Buffer.from(text)),
    block: Buffer.from(`${head}${events.join('')}0\r\n\r\n`),
  }
}

const prepared = new Map(SCENES.map((scene) => [upstreamModel(scene), { scene, ...prepare(scene) }]))
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const ALIVE = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\nup\n')
/** The answer to a gateway that exports its spans. */
const COLLECTED = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
const UNKNOWN = Buffer.from(
  'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 38\r\n\r\n{"error":{"message":"no such scene"}}\n',
)

function play(socket: Socket, body: string): void {
  const model = /"model" ?: ?"([^"]+)"/.exec(body)?.[1] ?? ''
  const scene = prepared.get(model)
  if (scene === undefined) return void socket.write(UNKNOWN)
  if (!STREAM_TRUE.test(body)) return void socket.write(scene.json)
  if (scene.scene === 'burst') {
    socket.write(scene.head)
    for (const event of scene.events) socket.write(event)
    return void socket.write(LAST_CHUNK)
  }
  if (scene.scene === 'json' || scene.scene === 'block') return void socket.write(scene.block)
  if (scene.scene === 'idle') {
    // Role and first token, then silence until the caller disconnects.
    return void socket.write(Buffer.concat([scene.head, ...scene.events.slice(0, 2)]))
  }
  pace(socket, scene)
}

function pace(socket: Socket, { head, events }: Prepared): void {
  let next = 2
  socket.write(Buffer.concat([head, ...events.slice(0, next)]))
  const timer = setInterval(() => {
    const event = events[next++]
    if (event !== undefined) socket.write(event)
    if (next >= events.length) {
      clearInterval(timer)
      socket.write(LAST_CHUNK)
    }
  }, PACED_INTERVAL_MS)
  socket.once('close', () => clearInterval(timer))
}

function serve(socket: Socket): void {
  let read: Buffer[] = []
  let size = 0
  /** The number of bytes that must arrive before another attempt to parse, so that a large body is concatenated only once. */
  let wanted = 0
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    read.push(bytes)
    size += bytes.length
    if (size > MAX_REQUEST) return void socket.destroy()
    if (size < wanted) return
    let rest = read.length === 1 ? bytes : Buffer.concat(read)
    for (let request = takeRequest(rest); ; request = takeRequest(rest)) {
      wanted = request?.length ?? 0
      if (request === undefined || rest.length < request.length) break
      rest = rest.subarray(request.length)
      answer(socket, request)
    }
    read = rest.length === 0 ? [] : [rest]
    size = rest.length
  })
}

interface Taken {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly length: number
}

function answer(socket: Socket, { method, path, body }: Taken): void {
  if (method === 'GET') socket.write(ALIVE)
  else if (path.startsWith(COLLECTOR_PATH)) socket.write(COLLECTED)
  else play(socket, body)
}

/** The first request in the bytes read so far; if its body is incomplete, `length` exceeds them. */
function takeRequest(bytes: Buffer): Taken | undefined {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end + 2)
  const [method = '', path = ''] = head.split(' ', 2)
  const start = end + HEAD_END.length
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)
  if (length !== null) {
    const total = start + Number(length[1])
    return { method, path, body: bytes.length < total ? '' : bytes.toString('latin1', start, total), length: total }
  }
  if (!/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) return { method, path, body: '', length: start }
  const last = bytes.indexOf('\r\n0\r\n\r\n', start, 'latin1')
  return last === -1 ? undefined : { method, path, body: bytes.toString('latin1', start, last), length: last + 7 }
}

const server = createServer(serve)
server.maxConnections = 20_000
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', 4096)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
