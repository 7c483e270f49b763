import { z } from 'zod'
import { GatewayError, isGatewayError } from '../core/error.ts'
import type { Plugin, PluginContext } from '../core/extension.ts'
import { isOutage, type Judge, type Verdict } from './shared/judge.ts'
import { spokenTexts } from './shared/spoken-texts.ts'

const settings = z.object({})

export interface ModerationOptions {
  /** Undefined: the operator has configured none. */
  readonly judge: Judge | undefined
  readonly whenUnavailable: 'refuse' | 'allow'
}

/** The text is judged in pieces of this size, and all pieces are judged. */
const CHUNK_CHARS = 16_000
const MAX_CHUNKS = 64

/** Has the caller's content judged before anything else happens to it; flagged content is refused. */
export function createModeration({ judge, whenUnavailable }: ModerationOptions): Plugin<z.infer<typeof settings>> {
  return {
    id: 'moderation',
    settings,
    timeoutMs: 60_000,
    check() {
      if (judge !== undefined) return
      throw new GatewayError(
        'invalid_request',
        'The plugin moderation has no model to ask: the operator of this gateway sets a model or an endpoint under plugins.moderation',
        { path: 'plugins' },
      )
    },
    async prepare(request, context) {
      const chunks = chunksOf(spokenTexts(request))
      if (judge === undefined || chunks.length === 0) return undefined
      const verdicts = await judgeAll(judge, chunks, context, whenUnavailable)
      const flagged = verdicts.filter((verdict) => verdict.flagged)
      if (flagged.length === 0) return undefined
      const cost = verdicts.reduce((sum, verdict) => sum + verdict.cost, 0)
      throw refuse(judge, [...new Set(flagged.flatMap(({ categories }) => categories))], cost, context)
    },
  }
}

function refuse(judge: Judge, categories: readonly string[], cost: number, { report }: PluginContext): GatewayError {
  const why = categories.length === 0 ? '' : `: ${categories.join(', ')}`
  report({
    stage: {
      type: 'guardrail',
      name: 'moderation',
      summary: `Blocked: flagged by ${judge.name}${why}`,
      data: { action: 'blocked', flagged: true, engine: judge.name, categories },
      ...(cost === 0 ? {} : { cost_usd: cost }),
    },
  })
  return new GatewayError('permission_denied', `Request blocked by moderation${why}`, { failover: 'never', metadata: { reasons: categories } })
}

/** Throws `provider_overloaded` if a piece could not be judged, unless that is an outage and the operator lets such calls pass. */
async function judgeAll(
  judge: Judge,
  chunks: readonly string[],
  { ask, signal, report, call }: PluginContext,
  whenUnavailable: 'refuse' | 'allow',
): Promise<readonly Verdict[]> {
  try {
    return await judge.judge(chunks, { ask, signal, request: call.request, now: call.clock.now() })
  } catch (error) {
    if (signal.aborted || !isGatewayError(error)) throw error
    const stage = { type: 'guardrail', name: 'moderation', data: { flagged: false, engine: judge.name, error: error.errorType } } as const
    if (whenUnavailable === 'allow' && isOutage(error)) {
      report({
        stage: { ...stage, summary: 'nobody could judge, and the operator lets such calls pass', data: { ...stage.data, action: 'allowed' } },
      })
      return []
    }
    report({ stage: { ...stage, summary: 'nobody could judge', data: { ...stage.data, action: 'blocked' } } })
    const { retryAfterMs } = error.details
    throw new GatewayError('provider_overloaded', 'Moderation is not available at the moment, and this call may not be made without it', {
      failover: 'never',
      cause: error,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
  }
}

/**
 * Joins short texts and splits long ones into overlapping pieces, so that nothing can hide at a boundary. A surrogate pair that is split is whole in the
 * other piece.
 */
function chunksOf(texts: readonly string[]): readonly string[] {
  const all = texts.join('\n\n')
  const step = CHUNK_CHARS - 500
  const count = Math.ceil(all.length / step)
  if (count > MAX_CHUNKS)
    throw new GatewayError('invalid_prompt', `More than ${MAX_CHUNKS * step} characters cannot be judged by moderation`, {
      path: 'input',
      failover: 'never',
    })
  return Array.from({ length: count }, (_, n) => all.slice(n * step, n * step + CHUNK_CHARS).toWellFormed())
}
