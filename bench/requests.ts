import type { Shot } from './load/connection.ts'
import { PROMPT, type Scene } from './mock/script.ts'
import type { BenchContext, RunningTarget, Target } from './targets/target.ts'

/** The same question in the format of the target: about 2 KB. */
export function requestBody(target: Target, scene: Scene, stream: boolean): string {
  const model = target.model(scene)
  const parameters = { stream, temperature: 0.2, user: 'bench-user' }
  if (target.format === 'responses') {
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: PROMPT }] }]
    return JSON.stringify({ model, instructions: 'Answer in plain words.', input, max_output_tokens: 1024, ...parameters })
  }
  const messages = [
    { role: 'system', content: 'Answer in plain words.' },
    { role: 'user', content: PROMPT },
  ]
  const options = stream ? { stream_options: { include_usage: true } } : {}
  return JSON.stringify({ model, messages, max_tokens: 1024, ...parameters, ...options })
}

export function createShot(target: Target, running: RunningTarget, context: BenchContext, scene: Scene, stream: boolean, pieces: number): Shot {
  const body = requestBody(target, scene, stream)
  const headers = {
    host: `127.0.0.1:${running.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...target.headers(context),
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    port: running.port,
    bytes: Buffer.from(`POST ${target.path} HTTP/1.1\r\n${head.join('')}\r\n${body}`),
    format: target.format,
    stream,
    pieces,
  }
}
