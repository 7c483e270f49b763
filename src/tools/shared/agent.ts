import { z } from 'zod'
import type { Call } from '../../core/call.ts'
import { asGatewayError, GatewayError } from '../../core/error.ts'
import type { ModelAnswer, ToolRequest, ToolResult } from '../../core/extension.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { cutText } from '../../lib/cut-text.ts'

const MAX_REFUSAL = 500

/** Parameters shared by all tools that call models. */
export const agentSettings = {
  model: z.string().optional(),
  instructions: z.string().optional(),
  max_completion_tokens: z.int().min(1).optional(),
  reasoning: z.object({ effort: z.string().optional(), max_tokens: z.int().min(0).optional() }).optional(),
  temperature: z.number().min(0).max(2).optional(),
}

export interface AgentSettings {
  readonly model?: string | undefined
  readonly instructions?: string | undefined
  readonly max_completion_tokens?: number | undefined
  readonly reasoning?: { readonly effort?: string | undefined; readonly max_tokens?: number | undefined } | undefined
  readonly temperature?: number | undefined
}

/** Throws `invalid_request` unless the model and the caller can tell an entry from all others of its tool. */
export function checkAgentName(what: string, own: string | undefined, { siblings, instance }: Pick<ToolRequest, 'siblings' | 'instance'>): void {
  const names = siblings.map((tool) => (tool['parameters'] as { readonly name?: string | null } | null | undefined)?.name?.trim())
  if (names.indexOf(own) === instance) return
  throw new GatewayError(
    'invalid_request',
    own === undefined
      ? `Only one ${what} may be without a name: give every other one a name of its own`
      : `Two ${what}s are called "${own}": names must differ`,
  )
}

/** The request of an inner model call: the agent's own settings, and from the outer request only what concerns privacy and routing. */
export function agentRequest(
  outer: ModelRequest,
  own: AgentSettings,
  model: string | undefined,
  rest: Partial<ModelRequest> & Pick<ModelRequest, 'input'>,
): ModelRequest {
  const { provider, service_tier: tier, user, safety_identifier: safety } = outer
  const named = model ?? own.model
  return {
    ...(named === undefined
      ? { ...(outer.model === undefined ? {} : { model: outer.model }), ...(outer.models === undefined ? {} : { models: outer.models }) }
      : { model: named }),
    // Preferences for providers of the outer model do not apply to another model, but its policies do.
    ...(provider == null ? {} : { provider: named === undefined ? provider : policiesOf(provider) }),
    ...(tier == null ? {} : { service_tier: tier }),
    ...(user == null ? {} : { user }),
    ...(safety == null ? {} : { safety_identifier: safety }),
    ...(own.instructions === undefined ? {} : { instructions: own.instructions }),
    ...(own.max_completion_tokens === undefined ? {} : { max_output_tokens: own.max_completion_tokens }),
    ...(own.reasoning === undefined ? {} : { reasoning: own.reasoning as ReasoningOptions }),
    ...(own.temperature === undefined ? {} : { temperature: own.temperature }),
    ...rest,
  }
}

function policiesOf(provider: NonNullable<ModelRequest['provider']>): NonNullable<ModelRequest['provider']> {
  const { data_collection, zdr, ignore, max_price, enforce_distillable_text } = provider
  return {
    ...(data_collection == null ? {} : { data_collection }),
    ...(zdr == null ? {} : { zdr }),
    ...(ignore == null ? {} : { ignore }),
    ...(max_price == null ? {} : { max_price }),
    ...(enforce_distillable_text == null ? {} : { enforce_distillable_text }),
  }
}

/** The model that a call is for, which a preset or another part of the gateway may have chosen. */
export const modelOf = ({ request, requestedModel }: Pick<Call, 'request' | 'requestedModel'>): string => request.model ?? requestedModel

export const userMessage = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text }] })

/** The text of a model's answer. Throws GatewayError if there is none: a refusal, or reasoning that used up all tokens, is no advice and no result. */
export function wordsOf({ text, refusal, reason }: Pick<ModelAnswer, 'text' | 'refusal' | 'reason'>): string {
  if (text !== '') return text
  if (refusal !== undefined) throw new GatewayError('refusal', `the model refused: ${cutText(refusal, MAX_REFUSAL)}`)
  const why = reason === 'length' ? 'the model used up its tokens before it said anything' : 'the model gave no answer'
  throw new GatewayError('provider_unavailable', why)
}

/** Tells the outer model that an answer was cut off, because half of it may look complete. */
export const cutOffNote = ({ reason }: Pick<ModelAnswer, 'reason'>): JsonObject =>
  reason === 'length' ? { note: 'This is cut off: the model used up its tokens before the end.' } : {}

/** A failed inner call as a result that the outer model can continue from. */
export function agentFailure(what: string, error: unknown, fields: JsonObject = {}): ToolResult {
  const { errorType, message } = asGatewayError(error)
  const text = errorType === 'server' ? `${what} failed` : `${what} failed: ${message}`
  return {
    output: JSON.stringify({ status: 'error', ...fields, error: text }),
    item: { ...fields, error: text },
    error: { type: errorType, message: text },
  }
}
