import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCENES, upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type Target } from './target.ts'

const KEY = `sk-sb-v1-${'bench'.repeat(8)}`

/** Everything on, as an operator would run it: authentication, validation, routing, usage, cost, records in the embedded database. */
const config = (upstreamPort: number): object => ({
  providers: [
    { slug: 'bench', name: 'Bench', dialect: 'openai-chat', base_url: `http://127.0.0.1:${upstreamPort}/v1`, api_keys: ['bench-upstream-key'] },
  ],
  models: SCENES.map((scene) => ({
    slug: `bench/${scene}`,
    context_length: 128_000,
    endpoints: [
      { provider: 'bench', upstream_model: upstreamModel(scene), pricing: { input: 1, output: 2, cache_read: 0.1 }, max_output_tokens: 8192 },
    ],
  })),
})

export const signalbox: Target = {
  name: 'signalbox',
  title: 'Signalbox, everything on',
  format: 'responses',
  model: (scene) => `bench/${scene}`,
  path: '/api/v1/responses',
  headers: () => ({ authorization: `Bearer ${KEY}` }),
  unavailable: ({ root }) => (existsSync(join(root, 'src/main.ts')) ? undefined : 'src/main.ts is not there'),
  async start(context) {
    const port = await freePort()
    const directory = join(context.temp, `signalbox-${port}`)
    mkdirSync(directory, { recursive: true })
    const file = join(directory, 'signalbox.json')
    writeFileSync(file, JSON.stringify(config(context.upstreamPort)))
    const args = [join(context.root, 'src/main.ts'), 'serve', '--config', file, '--port', String(port), '--data', join(directory, 'data')]
    // Only what is set here: a key or a database in the caller's own environment would change what is measured.
    const env = {
      PATH: process.env['PATH'],
      HOME: directory,
      SIGNALBOX_API_KEY: KEY,
      SIGNALBOX_MANAGEMENT_KEY: `sk-sb-mgmt-v1-${'bench'.repeat(8)}`,
      SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    return startProgram(context, port, '/readyz', process.execPath, args, env)
  },
}
