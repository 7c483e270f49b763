/**
 * What one turn of the server-side tool loop costs the gateway in addition to the model and the tool: many turns of a model that answers at once with a
 * call of a tool that does nothing, compared with as many single passes of the same model.
 *
 *   node bench/micro/tool-loop.ts [calls]
 */
import { performance } from 'node:perf_hooks'
import { computeCost } from '../../src/catalog/cost.ts'
import type { Call, Handler } from '../../src/core/call.ts'
import type { ModelEvent } from '../../src/core/event.ts'
import type { ServerTool } from '../../src/core/extension.ts'
import { createUsage } from '../../src/core/usage.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { randomId } from '../../src/lib/id.ts'
import { toolLoopLayer } from '../../src/pipeline/tool-loop.ts'
import { datetime } from '../../src/tools/datetime.ts'

const rounds = Number(process.argv[2] ?? 300)
const TURNS = 20

/** With the schemas of a real tool, because validating arguments is part of the turn. */
const noop: ServerTool = {
  name: 'noop',
  description: 'Does nothing.',
  parameters: datetime.parameters,
  settings: datetime.settings,
  begin: () => ({}),
  execute: async () => ({ output: randomId(8) }),
}

const usage = createUsage({ inputTokens: 100, outputTokens: 20 })
const words: ModelEvent[] = 'a model says a few words before it calls a tool'
  .split(' ')
  .map((delta) => ({ type: 'text-delta', key: 'm', delta: `${delta} ` }))
const turn: readonly (readonly ModelEvent[])[] = [
  [
    { type: 'response-start' },
    { type: 'item-start', key: 'm', item: { type: 'message', role: 'assistant', content: [] } },
    ...words,
    { type: 'item-end', key: 'm' },
  ],
  [
    { type: 'item-start', key: 'c', item: { type: 'function_call', call_id: 'c1', name: 'noop', arguments: '' } },
    { type: 'arguments-delta', key: 'c', delta: '{"timezone":"UTC"}' },
    { type: 'item-end', key: 'c' },
  ],
  [{ type: 'response-end', reason: 'tool_calls', usage }],
]
const model: Handler = async function* () {
  yield* turn
}

function call(): Call {
  const request = {
    model: 'acme/small',
    input: [{ type: 'message' as const, role: 'user' as const, content: 'go' }],
    tools: [{ type: 'gateway:noop' }],
    stop_server_tools_when: [{ type: 'step_count_is', step_count: TURNS }],
  }
  return {
    id: 'gen',
    request,
    requestedModel: 'acme/small',
    stream: true,
    signal: new AbortController().signal,
    clock: systemClock,
    random: Math.random,
    receivedAt: 0,
    owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' },
    origin: { apiType: 'responses' },
    output: () => [],
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
  }
}

const layer = toolLoopLayer({
  tools: () => tools,
  catalog: () => ({ find: () => undefined, models: () => [] }),
  defaults: () => ({}),
  costOf: computeCost,
  newId: randomId,
})
const tools: readonly ServerTool[] = [noop]
const loop = layer(model)

async function timed(handler: Handler): Promise<number> {
  const started = performance.now()
  for await (const events of handler(call())) if (events.length < 0) throw new Error('never')
  return performance.now() - started
}

const passes: Handler = async function* (each) {
  for (let n = 0; n <= TURNS; n++) yield* model(each)
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
const loops: number[] = []
const bare: number[] = []
for (let n = 0; n < rounds; n++) {
  bare.push(await timed(passes))
  loops.push(await timed(loop))
}
const warm = Math.floor(rounds / 5)
const perTurn = (median(loops.slice(warm)) - median(bare.slice(warm))) / TURNS
console.log(
  `one turn of the loop: ${(perTurn * 1000).toFixed(1)} microseconds at the median of ${rounds - warm} calls of ${TURNS} turns (limit: 300)`,
)
if (perTurn > 0.3) process.exitCode = 1
