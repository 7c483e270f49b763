import { upstreamModel } from '../mock/script.ts'
import type { Target } from './target.ts'

/** No gateway: the lower bound of every latency. */
export const direct: Target = {
  name: 'direct',
  title: 'nothing',
  format: 'chat',
  model: upstreamModel,
  path: '/v1/chat/completions',
  headers: () => ({ authorization: 'Bearer bench' }),
  unavailable: () => undefined,
  start: (context) => Promise.resolve({ port: context.upstreamPort, pid: undefined, readyMs: Number.NaN, stop: () => Promise.resolve() }),
}
