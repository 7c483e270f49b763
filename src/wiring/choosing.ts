import type { Call, CallTrace, Owner } from '../core/call.ts'
import type { Catalog } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelChoice, PluginContext } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { systemClock } from '../lib/clock.ts'
import { selectPlugins, type ActivePlugin, type PluginRegistry } from '../pipeline/plugin-select.ts'
import { permittedEndpoints } from '../router/permitted.ts'
import { modelNames, type RoutingDefaults } from '../router/plan.ts'
import { resolveModel } from '../router/variants.ts'

/** Whose request it would be. */
export interface ChoiceScene {
  readonly owner: Owner
  readonly defaults: RoutingDefaults
  readonly admits?: Call['admits']
  readonly sessionId?: string | undefined
}

/** What plugins that choose models do with a request. */
export interface ExplainedChoice {
  readonly request: ModelRequest
  /** Undefined if no plugin chose. */
  readonly strategy: CallTrace['strategy'] | undefined
  readonly reasons: { readonly [name: string]: unknown }
}

/**
 * Which models the plugins would choose for a request, without calling anybody and without remembering the choice. Throws GatewayError as the call
 * would, and `invalid_request` if a plugin would have to ask a model.
 */
export async function explainChoice(request: ModelRequest, scene: ChoiceScene, registry: PluginRegistry, catalog: Catalog): Promise<ExplainedChoice> {
  const active = selectPlugins(request, registry) ?? []
  for (const { plugin, settings } of active) plugin.check?.(settings)
  let chosen: ExplainedChoice = { request, strategy: undefined, reasons: {} }
  for (const one of active) {
    const { plugin } = one
    const context = contextFor(one, callFor(request, scene), scene, catalog)
    const choice = await plugin.choose?.(chosen.request, context)
    if (choice !== undefined) chosen = choosing(chosen, choice)
    const prepared = plugin.preparesAlone === true ? await plugin.prepare?.(chosen.request, context) : undefined
    if (prepared !== undefined) chosen = { ...chosen, request: prepared }
  }
  return chosen
}

function choosing({ request, reasons }: ExplainedChoice, choice: ModelChoice): ExplainedChoice {
  const [model, ...models] = choice.models
  const { models: _, ...rest } = request
  return {
    request: { ...rest, model, ...(models.length === 0 ? {} : { models }) },
    strategy: choice.strategy,
    reasons: { ...reasons, ...choice.reasons },
  }
}

function contextFor({ settings }: ActivePlugin, call: Call, { defaults }: ChoiceScene, catalog: Catalog): PluginContext {
  return {
    settings,
    call,
    signal: call.signal,
    endpointsOf: (request) => modelNames(request, defaults).flatMap((name) => resolveModel(name, catalog)?.model.endpoints ?? []),
    permitted: (request) => permittedEndpoints(request, call.clock.now()),
    ask: () => Promise.reject(chosenPerCall()),
    // Nothing runs, so there is nothing to report.
    afford: async () => undefined,
    report: () => undefined,
  }
}

const chosenPerCall = (): GatewayError =>
  new GatewayError(
    'invalid_request',
    'A model chooses the models of this request anew for each call; explain asks no model, so it cannot show them',
    {
      path: 'model',
    },
  )

/** The call as it would be. */
function callFor(request: ModelRequest, { owner, admits, sessionId }: ChoiceScene): Call {
  const session = request.session_id ?? sessionId
  return {
    id: 'explain',
    owner,
    request,
    requestedModel: request.model ?? request.models?.[0] ?? '',
    stream: false,
    signal: new AbortController().signal,
    clock: systemClock,
    random: Math.random,
    receivedAt: systemClock.now(),
    origin: { apiType: 'responses' },
    ...(admits === undefined ? {} : { admits }),
    ...(session === undefined ? {} : { sessionId: session }),
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
    output: () => [],
  }
}

/** The explanation of a plan, with the name the caller used and the reason for the choice of models. */
export function withChoice<E extends { readonly requested: string; readonly params: { readonly [name: string]: unknown } }>(
  explanation: E,
  original: ModelRequest,
  { strategy, reasons }: ExplainedChoice,
): E {
  if (strategy === undefined) return explanation
  return { ...explanation, requested: original.model ?? original.models?.[0] ?? explanation.requested, params: { ...explanation.params, ...reasons } }
}
