import type { CallTrace } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Endpoint } from '../core/endpoint.ts'

/** `gateway_metadata`, in the contract's shape. */
export interface GatewayMetadata {
  readonly requested: string
  readonly strategy: CallTrace['strategy']
  readonly region: string | null
  readonly summary: string
  /** 1-based number of the attempt that served or, if none did, of the last; 0: no endpoint was reached. */
  readonly attempt: number
  readonly is_byok: boolean
  readonly endpoints: {
    readonly total: number
    readonly available: readonly { readonly provider: string; readonly model: string; readonly selected: boolean }[]
  }
  /** `error_type`: why an attempt failed. */
  readonly attempts?: readonly { readonly provider: string; readonly model: string; readonly status: number; readonly error_type?: string }[]
  readonly params?: { readonly [name: string]: unknown }
  readonly pipeline?: CallTrace['pipeline']
}

/** Endpoints listed; `endpoints.total` counts them all. */
const MAX_LISTED = 64

export interface MetadataOptions {
  /** What the caller named (`call.requestedModel`). */
  readonly requested: string
  /** Where this gateway runs, if the operator has said so. */
  readonly region?: string | null
}

/** The object that tells callers what the gateway did for a call. Lists rejected endpoints only if there is nothing else. */
export function gatewayMetadata(trace: CallTrace, options: MetadataOptions): GatewayMetadata {
  const { served, attempts, candidates, rejected } = trace
  const usable = candidates.filter(({ id }) => !rejected.has(id))
  const available = usable.length > 0 ? usable : candidates
  const params = paramsOf(trace)
  return {
    requested: options.requested,
    strategy: trace.strategy,
    region: options.region ?? served?.endpoint.region ?? null,
    summary: summarise(trace, usable.length),
    attempt: served === undefined ? attempts.length : attempts.indexOf(served) + 1,
    is_byok: served?.isByok ?? false,
    endpoints: { total: candidates.length, available: list(available, served?.endpoint) },
    ...(attempts.length > 0 ? { attempts: attempts.map(attemptOf) } : {}),
    ...(params === undefined ? {} : { params }),
    ...(trace.pipeline.length > 0 ? { pipeline: trace.pipeline } : {}),
  }
}

function attemptOf({ endpoint, status, error }: CallTrace['attempts'][number]): NonNullable<GatewayMetadata['attempts']>[number] {
  return { provider: endpoint.providerName, model: servedModel(endpoint), status, ...(error === undefined ? {} : { error_type: error.type }) }
}

function list(endpoints: readonly Endpoint[], selected: Endpoint | undefined): GatewayMetadata['endpoints']['available'] {
  const listed = endpoints.slice(0, MAX_LISTED)
  if (selected !== undefined && !listed.includes(selected)) {
    if (listed.length === MAX_LISTED) listed.pop()
    listed.push(selected)
  }
  return listed.map((endpoint) => ({ provider: endpoint.providerName, model: servedModel(endpoint), selected: endpoint === selected }))
}

function summarise(trace: CallTrace, available: number): string {
  const { served, attempts, rejected, pipeline } = trace
  let summary = `available=${available}`
  if (rejected.size > 0) summary += `, rejected=${rejected.size}`
  if (served !== undefined) summary += `, selected=${served.endpoint.providerName}`
  // Each turn of a tool loop has an attempt that served it; only the last one is `served`.
  const failed = attempts.filter((attempt) => attempt !== served && !hasAnswered(attempt)).length
  if (failed > 0) summary += `, failed=${failed}`
  if (pipeline.length > 0) summary += `, stages=${pipeline.length}`
  return summary
}

const hasAnswered = ({ status, error }: CallTrace['attempts'][number]): boolean => error === undefined && status >= 200 && status < 300

function paramsOf(trace: CallTrace): GatewayMetadata['params'] {
  const dropped = trace.served?.dropped
  const params = dropped !== undefined && dropped.length > 0 ? { ...trace.params, dropped_parameters: dropped } : trace.params
  return Object.keys(params).length > 0 ? params : undefined
}
