/**
 * The gateway's own work for one JSON call, without sockets: a request object in, a response object out, the upstream in this process.
 *
 *   node bench/micro/route.ts [calls]
 */
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/load.ts'
import { silentLogger } from '../../src/lib/logger.ts'

const calls = Number(process.argv[2] ?? 20_000)
const directory = mkdtempSync(join(tmpdir(), 'signalbox-route-'))
const key = `sk-sb-v1-${'bench'.repeat(8)}`
const env = { SIGNALBOX_API_KEY: key, SIGNALBOX_MANAGEMENT_KEY: `${key}m`, SIGNALBOX_DATA_DIR: directory, SIGNALBOX_PORT: '0' }
const app = await createApp({ config: await loadConfig({ env, cwd: directory }), env, logger: silentLogger })
const body = Buffer.from(
  JSON.stringify({
    model: 'demo/echo',
    instructions: 'Answer in plain words.',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one-word-makes-one-read-'.repeat(8) }] }],
    max_output_tokens: 1024,
  }),
)

class FakeResponse extends EventEmitter {
  headersSent = false
  writableFinished = false
  writableEnded = false
  destroyed = false
  body = ''
  writeHead(): this {
    this.headersSent = true
    return this
  }
  end(text: string): this {
    this.body = text
    this.writableEnded = true
    this.writableFinished = true
    this.emit('finish')
    return this
  }
}

function call(): Promise<string> {
  const request = Object.assign(Readable.from([body], { objectMode: false }), {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': String(body.length) },
    method: 'POST',
    url: '/api/v1/responses',
  })
  const response = new FakeResponse()
  const done = new Promise<string>((resolve) => response.on('finish', () => resolve(response.body)))
  app.responses(request as never, response as never)
  return done
}

for (let i = 0; i < calls / 4; i++) await call()
const cpu = process.cpuUsage()
const start = performance.now()
for (let i = 0; i < calls; i++) await call()
const used = process.cpuUsage(cpu)
console.log(
  `${(((performance.now() - start) * 1000) / calls).toFixed(1)} us a call, ${((used.user + used.system) / calls).toFixed(1)} us of processor time`,
)
await app.close()
rmSync(directory, { recursive: true })
