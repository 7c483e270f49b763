import { classifyHttp, redact } from '../core/outcome.ts'
import { DESTINATION_DEFAULTS, type Destination, type DestinationContext, type OutgoingResponse, type ProbeStep } from '../core/destination.ts'
import type { Clock } from '../lib/clock.ts'
import type { Transport } from './transport.ts'

export interface ProbeStepResult {
  readonly name: string
  readonly ok: boolean
  /** HTTP status; 0 when no answer came. */
  readonly status: number
  readonly latencyMs: number
  /** What is wrong, in a sentence without secrets. */
  readonly message?: string
}

export interface ConnectionTest {
  readonly ok: boolean
  /** In order; the last one is the one that failed, if any did. */
  readonly steps: readonly ProbeStepResult[]
}

/** Runs a type's connection test with settings that need not be stored. Never rejects. */
export async function testConnection(
  type: Destination,
  settings: unknown,
  context: DestinationContext,
  transport: Transport,
  clock: Clock,
  signal: AbortSignal,
): Promise<ConnectionTest> {
  const steps: ProbeStepResult[] = []
  for (const step of type.probe(settings, context)) {
    const started = clock.monotonic()
    const { status, message } = await runStep(type, step, context, transport, signal)
    steps.push({
      name: step.name,
      ok: message === undefined,
      status,
      latencyMs: Math.round(clock.monotonic() - started),
      ...(message === undefined ? {} : { message }),
    })
    if (message !== undefined) return { ok: false, steps }
  }
  return { ok: true, steps }
}

async function runStep(
  type: Destination,
  step: ProbeStep,
  context: DestinationContext,
  transport: Transport,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly message?: string }> {
  try {
    const timeoutMs = step.request.timeoutMs ?? type.limits.timeoutMs ?? DESTINATION_DEFAULTS.timeoutMs
    const response = await (type.transport?.(step.request, context, signal) ?? transport(step.request, timeoutMs, signal))
    const problem = step.check === undefined ? judge(type, step, response) : step.check(response)
    return { status: response.status, ...(problem === undefined ? {} : { message: redact(problem).slice(0, 500) }) }
  } catch (error) {
    return { status: 0, message: redact(error instanceof Error ? error.message : String(error)).slice(0, 500) }
  }
}

function judge(type: Destination, step: ProbeStep, response: OutgoingResponse): string | undefined {
  const outcome = type.classify?.(response, step.request) ?? classifyHttp(response)
  return outcome.kind === 'delivered' ? undefined : outcome.message
}
