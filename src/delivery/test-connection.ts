import { setTimeout as delay } from 'node:timers/promises'
import { classifyHttp, redact } from '../core/outcome.ts'
import {
  DESTINATION_DEFAULTS,
  type Destination,
  type DestinationContext,
  type OutgoingRequest,
  type OutgoingResponse,
  type ProbeStep,
} from '../core/destination.ts'
import type { Clock } from '../lib/clock.ts'
import { createBlanking } from './blank-secrets.ts'
import { createLookUp } from './prepared.ts'
import type { Transport } from './transport.ts'

export interface ProbeStepResult {
  readonly name: string
  readonly ok: boolean
  /** HTTP status; 0 if no answer came. */
  readonly status: number
  readonly latencyMs: number
  /** What is wrong, or worth knowing about a successful step, as a sentence without secrets. */
  readonly message?: string
}

export interface ConnectionTest {
  readonly ok: boolean
  /** In order; if a step failed it is the last one. */
  readonly steps: readonly ProbeStepResult[]
}

export interface ConnectionTestJob {
  readonly type: Destination
  readonly settings: unknown
  readonly context: DestinationContext
  readonly transport: Transport
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Runs a type's connection test with settings that need not be stored. Never rejects. */
export async function testConnection(job: ConnectionTestJob): Promise<ConnectionTest> {
  const { type, settings, clock } = job
  const steps: ProbeStepResult[] = []
  const prepared = { ...job, context: await prepare(job) }
  for (const step of type.probe(settings, prepared.context)) {
    const started = clock.monotonic()
    const result = await runStep(step, prepared)
    steps.push({ name: step.name, latencyMs: Math.round(clock.monotonic() - started), ...result })
    if (!result.ok) return { ok: false, steps }
  }
  return { ok: true, steps }
}

/** What a delivery would look up (a bucket's region, a table's columns). If that fails, the step that needs it reports it. */
async function prepare({ type, settings, context, transport, signal }: ConnectionTestJob): Promise<DestinationContext> {
  if (type.prepare === undefined || context.prepared !== undefined) return context
  try {
    const prepared = await type.prepare(settings, context, createLookUp(type, settings, transport, signal))
    return prepared === undefined ? context : { ...context, prepared }
  } catch {
    return context
  }
}

const timeoutOf = (type: Destination, request: OutgoingRequest): number =>
  request.timeoutMs ?? type.limits.timeoutMs ?? DESTINATION_DEFAULTS.timeoutMs

/** Answers that say "still working on it" are polled as in a delivery, with less patience. */
const MAX_FOLLOW_UPS = 20

async function exchange(first: OutgoingRequest, { type, settings, context, transport, signal }: ConnectionTestJob): Promise<OutgoingResponse> {
  const blank = createBlanking(type, settings)
  const send = async (request: OutgoingRequest): Promise<OutgoingResponse> =>
    blank(await (type.transport?.(request, context, signal) ?? transport(request, timeoutOf(type, request), signal)))
  let response = await send(first)
  for (let step = 0; step < MAX_FOLLOW_UPS; step++) {
    const next = type.followUp?.(response, step, settings, context)
    if (next === undefined) break
    await delay(next.afterMs, undefined, { signal })
    response = await send(next.request)
  }
  return response
}

type StepOutcome = Pick<ProbeStepResult, 'ok' | 'status' | 'message'>

async function runStep(step: ProbeStep, job: ConnectionTestJob): Promise<StepOutcome> {
  try {
    const response = await exchange(step.request, job)
    const { ok, message } = step.check === undefined ? judge(job.type, step, response) : checked(step.check(response))
    return { ok, status: response.status, ...(message === undefined ? {} : { message: redact(message, 500) }) }
  } catch (error) {
    return { ok: false, status: 0, message: redact(error instanceof Error ? error.message : String(error), 500) }
  }
}

type Judgement = Pick<StepOutcome, 'ok' | 'message'>

const checked = (problem: string | undefined): Judgement => (problem === undefined ? { ok: true } : { ok: false, message: problem })

function judge(type: Destination, step: ProbeStep, response: OutgoingResponse): Judgement {
  const outcome = type.classify?.(response, step.request) ?? classifyHttp(response)
  if (outcome.kind === 'delivered' && isWebPage(response)) return { ok: false, message: 'the answer is a web page: is this the address of the API?' }
  return { ok: outcome.kind === 'delivered', ...(outcome.message === undefined ? {} : { message: outcome.message }) }
}

/** Web front ends and sign-in pages answer every path with 200. No platform answers its API clients like this. */
const isWebPage = ({ body }: OutgoingResponse): boolean => /^\ufeff?\s*<(?:!doctype\s+html|html)[\s>]/i.test(body.toString('utf8', 0, 200))
