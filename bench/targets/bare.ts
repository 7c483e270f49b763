import { join } from 'node:path'
import { upstreamModel } from '../mock/script.ts'
import { freePort, startProgram, type BenchContext, type RunningTarget, type Target } from './target.ts'

async function start(context: BenchContext, workers: number): Promise<RunningTarget> {
  const port = await freePort()
  const program = join(context.root, 'bench/targets/bare-node.ts')
  const args = [program, String(port), `http://127.0.0.1:${context.upstreamPort}`, String(workers)]
  return startProgram(context, port, '/', process.execPath, args)
}

/** The yardstick for every ratio: bare-node.ts. */
export const bare: Target = {
  name: 'bare-node',
  title: 'bare Node pass-through',
  format: 'chat',
  model: upstreamModel,
  path: '/v1/chat/completions',
  headers: () => ({ authorization: 'Bearer bench' }),
  unavailable: () => undefined,
  start: (context) => start(context, 1),
  startWorkers: (context, workers) => start({ ...context, core: undefined }, workers),
}
