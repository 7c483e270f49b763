import type { Call } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { ModelRequest } from '../core/request.ts'
import type { AssemblerOptions } from '../doors/responses/assembler-options.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { takeEchoes } from '../pipeline/echo-body.ts'

export interface AssemblySources {
  /** `gateway_metadata` of a call, in the contract's shape. */
  readonly presentMetadata: (call: Call) => { readonly [field: string]: unknown }
  /** Whether raw reasoning is also shown as a summary. */
  readonly mirrorReasoning: () => boolean
  /** Estimated tokens of a request's prompt. */
  readonly promptTokens: (request: ModelRequest) => number
  readonly clock: Clock
  readonly newId: IdSource
}

/** What the fold of an answer is told about its call. */
export function assemblyOf(sources: AssemblySources, call: Call, fields: readonly string[], errorEvent: boolean): AssemblerOptions {
  return {
    id: call.id,
    request: call.request,
    receivedAt: call.receivedAt,
    stream: call.stream,
    clock: sources.clock,
    newId: sources.newId,
    mirrorReasoning: sources.mirrorReasoning(),
    promptTokens: () => sources.promptTokens(call.request),
    errorEvent,
    facts: () => ({
      model: call.trace.served === undefined ? call.requestedModel : servedModel(call.trace.served.endpoint),
      tier: call.trace.served?.endpoint.tier,
      dropped: call.trace.served?.dropped,
      isByok: call.trace.served?.isByok ?? false,
      ...(call.trace.cost === undefined ? {} : { cost: call.trace.cost }),
      ...(call.trace.brokenUsage === undefined ? {} : { usage: call.trace.brokenUsage }),
    }),
    ...(call.echoes === true ? { echoes: () => takeEchoes(call.trace.attempts) } : {}),
    ...(fields.length === 0 ? {} : { extra: () => metadataOf(sources, call, fields) }),
  }
}

/** The metadata of a call, under the names its caller asked for; undefined if it did not ask. */
export function metadataOf(sources: AssemblySources, call: Call, fields: readonly string[]): { readonly [field: string]: unknown } | undefined {
  if (fields.length === 0) return undefined
  const metadata = sources.presentMetadata(call)
  return Object.fromEntries(fields.map((field) => [field, metadata]))
}
