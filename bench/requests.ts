import type { Shot } from './load/connection.ts'
import { PROMPT_IMAGE, PROMPT_TEXT, type Prompt, type Scene } from './mock/script.ts'
import type { BenchContext, RunningTarget, Target } from './targets/target.ts'

/** The same question in the format of the target. */
export function requestBody(target: Target, scene: Scene, stream: boolean, prompt: Prompt = '2k'): string {
  const model = target.model(scene)
  const parameters = { stream, temperature: 0.2, user: 'bench-user' }
  const text = PROMPT_TEXT[prompt]
  const image = PROMPT_IMAGE[prompt]
  if (target.format !== 'chat') {
    const picture = image === undefined ? [] : [{ type: 'input_image', image_url: image, detail: 'auto' }]
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }, ...picture] }]
    return JSON.stringify({ model, instructions: 'Answer in plain words.', input, max_output_tokens: 1024, ...parameters })
  }
  const content =
    image === undefined
      ? text
      : [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: image, detail: 'auto' } },
        ]
  const messages = [
    { role: 'system', content: 'Answer in plain words.' },
    { role: 'user', content },
  ]
  const options = stream ? { stream_options: { include_usage: true } } : {}
  return JSON.stringify({ model, messages, max_tokens: 1024, ...parameters, ...options })
}

/** What a scenario sends, and what it expects back. */
export interface Need {
  readonly scene: Scene
  readonly stream: boolean
  readonly prompt?: Prompt
}

export function createShot(target: Target, running: RunningTarget, context: BenchContext, { scene, stream, prompt }: Need, pieces: number): Shot {
  const body = requestBody(target, scene, stream, prompt)
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
