import { join } from 'node:path'
import { upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type Target } from './target.ts'

/** The yardstick every ratio is taken against: bare-node.ts. */
export const bare: Target = {
  name: 'bare-node',
  title: 'bare Node pass-through',
  format: 'chat',
  model: upstreamModel,
  path: '/v1/chat/completions',
  headers: () => ({ authorization: 'Bearer bench' }),
  unavailable: () => undefined,
  async start(context) {
    const port = await freePort()
    const program = join(context.root, 'bench/targets/bare-node.ts')
    return startProgram(context, port, '/', process.execPath, [program, String(port), `http://127.0.0.1:${context.upstreamPort}`])
  },
}
