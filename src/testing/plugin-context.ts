import type { Call } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelAnswer, PluginContext, PluginEffects } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage } from '../core/usage.ts'
import type { Clock } from '../lib/clock.ts'
import { permittedEndpoints } from '../router/permitted.ts'

/** Noon on a day in January; the clock never advances. */
export const TEST_CLOCK: Clock = { now: () => Date.UTC(2026, 0, 15, 12), monotonic: () => 0 }

export const permitted: PluginContext['permitted'] = (request) => permittedEndpoints(request, TEST_CLOCK.now())

export interface ContextParts {
  readonly request?: ModelRequest
  readonly stream?: boolean
  readonly endpoints?: readonly Endpoint[]
  readonly signal?: AbortSignal
  /** What models answer; default: no model may be called. */
  readonly ask?: (...asked: Parameters<PluginContext['ask']>) => ModelAnswer | Promise<ModelAnswer>
}

export function testCall({ request = { input: [] }, stream = false, signal = new AbortController().signal }: ContextParts = {}): Call {
  return {
    id: 'gen-1',
    owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' },
    request,
    requestedModel: request.model ?? 'acme/small',
    stream,
    signal,
    clock: TEST_CLOCK,
    random: () => 0.5,
    receivedAt: TEST_CLOCK.now(),
    origin: { apiType: 'responses' },
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
    output: () => [],
  }
}

/** A plugin's context, and what the plugin reports, in order. */
export function testContext<S>(
  settings: S,
  parts: ContextParts = {},
): { readonly context: PluginContext<S>; readonly reported: readonly PluginEffects[] } {
  const reported: PluginEffects[] = []
  const call = testCall(parts)
  return {
    reported,
    context: {
      settings,
      call,
      signal: call.signal,
      endpointsOf: () => parts.endpoints ?? [],
      permitted,
      ask: async (request, options) => {
        if (parts.ask === undefined) throw new GatewayError('server', 'no model may be asked here')
        return parts.ask(request, options)
      },
      afford: async () => undefined,
      report: (effects) => void reported.push(effects),
    },
  }
}

/** The answer to an inner model call. */
export function testAnswer(text: string, parts: Partial<ModelAnswer> = {}): ModelAnswer {
  return {
    text,
    images: [],
    sources: [],
    items: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
    model: 'acme/small',
    reason: 'stop',
    usage: createUsage({ inputTokens: 10, outputTokens: 5 }),
    cost: { total: 0.001, input: 0.0005, output: 0.0005, cacheDiscount: 0, source: 'catalog' },
    ...parts,
  }
}
