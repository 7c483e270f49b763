import { answerIn, reached, refusalOf } from '../../api/client.ts'
import type { Body } from './body.ts'

/** The members of a plan that are shown. */
export interface Plan {
  readonly requested: string
  readonly strategy: string
  readonly order: string
  readonly estimated_input_tokens: number | null
  readonly attempts: readonly PlannedAttempt[]
  readonly rejected: readonly { readonly endpoint: string; readonly model: string; readonly provider: string; readonly reason: string }[]
  readonly params: { readonly [name: string]: unknown }
  readonly error: { readonly code: number; readonly error_type: string; readonly message: string } | null
}

export interface PlannedAttempt {
  readonly position: number
  readonly endpoint: string
  readonly model: string
  readonly provider: string
  readonly upstream_model: string
  readonly is_byok: boolean
  readonly state: string
  readonly notes: readonly string[]
  readonly dropped_parameters: readonly string[]
  readonly score: {
    /** USD for a million prompt and a million completion tokens. */
    readonly price: number
    readonly share: number | null
    readonly latency_p50_ms: number | null
    /** Tokens per second. */
    readonly throughput_p50: number | null
  }
}

export interface ExplainOptions {
  readonly key: string
  readonly signal: AbortSignal
  readonly fetch?: typeof fetch
}

/** The endpoints that would be tried for this body. Rejects with `ApiError`. */
export async function explain(body: Body, { key, signal, fetch: call = (url, init) => fetch(url, init) }: ExplainOptions): Promise<Plan> {
  const response = await reached(() =>
    call('/api/v1/route/explain', {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
  if (!response.ok) throw refusalOf(response.status, await response.text().catch(() => ''))
  return (await answerIn(response, ['attempts'])) as Plan
}
