import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type Target } from './target.ts'

/** The folder of a built checkout: it is in no registry, and the bench downloads nothing from elsewhere. */
const FOLDER = process.env['SIGNALBOX_BENCH_RESPONSES_JS'] ?? ''
const program = join(FOLDER, 'dist/index.js')

/** A peer with the same API, on the same runtime, on top of any chat completions server. */
export const responsesJs: Target = {
  name: 'responses-js',
  title: 'responses.js',
  format: 'responses-bare',
  model: upstreamModel,
  path: '/v1/responses',
  headers: () => ({ authorization: 'Bearer bench' }),
  unavailable: () =>
    FOLDER !== '' && existsSync(program)
      ? undefined
      : 'SIGNALBOX_BENCH_RESPONSES_JS names no built checkout of github.com/huggingface/responses.js (npm install, npx tsup src/*.ts --format cjs,esm)',
  async start(context) {
    const port = await freePort()
    const env = { PATH: process.env['PATH'], PORT: String(port), OPENAI_BASE_URL: `http://127.0.0.1:${context.upstreamPort}/v1` }
    return startProgram(context, port, '/health', context.peerNode, [program], env)
  },
}
