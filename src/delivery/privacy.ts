import type { Generation, GenerationAttempt, GenerationStep, PipelineStage } from '../core/generation.ts'

/**
 * Privacy mode for the record (record.ts drops the content as a whole). It lists what may stay and not what must go: a new field is withheld until
 * somebody declares that it holds no words of caller or model.
 */

/** Parameters whose text is one of some fixed names, never words of the caller. */
const NAMED_PARAMETERS: ReadonlySet<string> = new Set(['service_tier', 'truncation', 'route', 'verbosity', 'reasoning_effort'])
const MAX_NAME = 40

const isPlainValue = (value: unknown): value is number | boolean => typeof value === 'number' || typeof value === 'boolean'

function privateParameters(parameters: Generation['parameters']): Generation['parameters'] {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(parameters)) {
    if (isPlainValue(value)) kept[name] = value
    else if (typeof value === 'string' && NAMED_PARAMETERS.has(name) && value.length <= MAX_NAME) kept[name] = value
  }
  const reasoning = parameters['reasoning']
  if (
    typeof reasoning === 'object' &&
    reasoning !== null &&
    'effort' in reasoning &&
    typeof reasoning.effort === 'string' &&
    reasoning.effort.length <= MAX_NAME
  ) {
    kept['reasoning'] = { effort: reasoning.effort }
  }
  return kept
}

const privateStage = ({ type, name, cost_usd, guardrail_id, guardrail_scope }: PipelineStage): PipelineStage => ({
  type,
  name,
  ...(cost_usd === undefined ? {} : { cost_usd }),
  ...(guardrail_id === undefined ? {} : { guardrail_id }),
  ...(guardrail_scope === undefined ? {} : { guardrail_scope }),
})

/** Ids, reasons and names of counters as vendors form them: one word. A server may write a sentence there, which may quote. */
const isOneWord = (text: string | undefined): text is string => text !== undefined && /^[\w.:/+=~-]+$/.test(text)

function privateUsage({ raw: _raw, serverToolUse, ...usage }: Generation['usage']): Generation['usage'] {
  if (serverToolUse === undefined) return usage
  return { ...usage, serverToolUse: Object.fromEntries(Object.entries(serverToolUse).filter(([tool]) => isOneWord(tool))) }
}

/** What an error may say in privacy mode, because upstreams like to quote the prompt in theirs. */
function privateErrorMessage(errorType: string, status: number): string {
  return status > 0 ? `${errorType} (HTTP ${status}); details withheld by privacy mode` : `${errorType}; details withheld by privacy mode`
}

/** The label and the tools of another server were named by the caller and by that server: which of them the model called says what was asked. */
const privateStep = ({ errorMessage: _message, source, name, ...step }: GenerationStep): GenerationStep => ({ ...step, name: source ?? name })

const privateAttempt = ({ errorMessage, upstreamId, ...attempt }: GenerationAttempt): GenerationAttempt => ({
  ...attempt,
  ...(isOneWord(upstreamId) ? { upstreamId } : {}),
  ...(errorMessage === undefined ? {} : { errorMessage: privateErrorMessage(attempt.errorType ?? 'error', attempt.status) }),
})

/**
 * The record without any words of prompt or answer: error texts, stop sequences, schemas, notes of guardrails and the upstream's raw usage are
 * removed. Tokens, costs, timing, model, ids and the caller's own metadata stay.
 */
export function toPrivate(generation: Generation): Generation {
  const { errorMessage, nativeFinishReason, upstreamId, ...rest } = generation
  return {
    ...rest,
    ...(errorMessage === undefined ? {} : { errorMessage: privateErrorMessage(generation.errorType ?? 'error', generation.httpStatus) }),
    ...(isOneWord(nativeFinishReason) ? { nativeFinishReason } : {}),
    ...(isOneWord(upstreamId) ? { upstreamId } : {}),
    usage: privateUsage(generation.usage),
    parameters: privateParameters(generation.parameters),
    pipeline: generation.pipeline.map(privateStage),
    attempts: generation.attempts.map(privateAttempt),
    ...(generation.steps === undefined ? {} : { steps: generation.steps.map(privateStep) }),
  }
}
