import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type Target } from './target.ts'

const INSTALL_LIMIT_MS = 180_000
const program = (root: string): string => join(root, 'bench/node_modules/@portkey-ai/gateway/build/start-server.js')

/** A peer on the same runtime, from npm; installed on first use, separate from the product's own dependencies. */
export const portkey: Target = {
  name: 'portkey',
  title: 'Portkey gateway (npm)',
  format: 'chat',
  model: upstreamModel,
  path: '/v1/chat/completions',
  headers: ({ upstreamPort }) => ({
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  }),
  unavailable({ root }) {
    if (existsSync(program(root))) return undefined
    console.log('installing the peers of bench/package.json (npm ci --prefix bench)')
    const { status, stderr } = spawnSync('npm', ['ci', '--prefix', join(root, 'bench'), '--ignore-scripts', '--no-audit', '--no-fund'], {
      timeout: INSTALL_LIMIT_MS,
      encoding: 'utf8',
    })
    if (status === 0 && existsSync(program(root))) return undefined
    return `npm ci --prefix bench failed: ${stderr.trim().split('\n').at(-1) ?? ''}`
  },
  async start(context) {
    const port = await freePort()
    return startProgram(context, port, '/', context.peerNode, [program(context.root), `--port=${port}`, '--headless'])
  },
}
