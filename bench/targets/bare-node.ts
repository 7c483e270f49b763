/**
 * The yardstick: what Node can do if it only passes bytes on. `node:http` in, undici's dispatcher out, without parsing and without copies except those of
 * the sockets.
 *
 *   node bench/targets/bare-node.ts PORT UPSTREAM_ORIGIN [WORKERS]
 */
import cluster from 'node:cluster'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Pool, type Dispatcher } from 'undici'

const [port, origin = '', workers = '1'] = process.argv.slice(2)
const pool = new Pool(origin, { connections: 8192, pipelining: 1, bodyTimeout: 0, headersTimeout: 60_000 })

/** Passes bytes on as they come; a body of known length is written together with its head. */
class PassOn implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  #controller: Dispatcher.DispatchController | undefined
  #whole: Buffer[] | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.once('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('the caller left'))
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#response.destroyed) controller.abort(new Error('the caller left'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: { readonly [name: string]: string | string[] | undefined },
  ): void {
    const passed: { [name: string]: string | string[] } = {}
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined && name !== 'connection' && name !== 'keep-alive' && name !== 'transfer-encoding') passed[name] = value
    }
    if (headers['content-length'] !== undefined) this.#whole = []
    this.#response.writeHead(status, passed)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#whole !== undefined) this.#whole.push(chunk)
    else if (!this.#response.write(chunk) && !controller.paused) {
      controller.pause()
      this.#response.once('drain', () => controller.resume())
    }
  }

  onResponseEnd(): void {
    const whole = this.#whole
    this.#response.end(whole === undefined || whole.length === 1 ? whole?.[0] : Buffer.concat(whole))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#response.headersSent) this.#response.destroy(error)
    else this.#response.writeHead(502).end()
  }
}

function forward(request: IncomingMessage, response: ServerResponse, body: Buffer | undefined): void {
  const headers = { 'content-type': request.headers['content-type'] ?? 'application/json', authorization: request.headers.authorization ?? '' }
  pool.dispatch({ path: request.url ?? '/', method: request.method ?? 'GET', headers, body }, new PassOn(response))
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => void chunks.push(chunk))
  request.on('end', () => forward(request, response, chunks.length > 1 ? Buffer.concat(chunks) : chunks[0]))
})
if (cluster.isPrimary && Number(workers) > 1) for (let i = 0; i < Number(workers); i++) cluster.fork()
else server.listen(Number(port), '127.0.0.1', 4096)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
