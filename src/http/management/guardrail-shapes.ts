import { z } from 'zod'
import { BUILTIN_FILTERS, FILTER_ACTIONS, type GuardrailAssignment, type StoredGuardrail } from '../../core/guardrail.ts'
import { guardrailFields } from '../../core/guardrail-schema.ts'
import type { ApiKey } from '../../core/store.ts'
import { isoTime, limitField, offsetField } from './request-input.ts'
import { component } from './route-doc.ts'

/** Shapes of `/api/v1/guardrails` on the wire. */

const name = z.string().min(1).max(200)
const description = z.string().max(1_000).nullable().optional()

export const listGuardrailsQuery = z.object({ offset: offsetField, limit: limitField, workspace_id: z.uuid().optional() })
export const pageQuery = z.object({ offset: offsetField, limit: limitField })
export const idParams = z.object({ id: z.uuid() })

export const createGuardrailBody = component(
  'CreateGuardrailRequest',
  z.strictObject({ name, description, workspace_id: z.uuid().optional(), ...guardrailFields }),
)
export const updateGuardrailBody = component('UpdateGuardrailRequest', z.strictObject({ name: name.optional(), description, ...guardrailFields }))
export const keyHashesBody = component(
  'GuardrailKeysRequest',
  z.strictObject({
    key_hashes: z
      .array(z.string().regex(/^[a-f0-9]{64}$/, 'the hash of a key is expected'))
      .min(1)
      .max(1_000),
  }),
)

const texts = z.array(z.string()).readonly().nullable()
const flag = z.boolean().nullable()
const action = z.enum(FILTER_ACTIONS)
const guardrailShape = component(
  'Guardrail',
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    allowed_models: texts,
    ignored_models: texts,
    allowed_providers: texts,
    ignored_providers: texts,
    enforce_zdr: flag,
    enforce_zdr_anthropic: flag,
    enforce_zdr_google: flag,
    enforce_zdr_openai: flag,
    enforce_zdr_xai: flag,
    enforce_zdr_other: flag,
    enable_free_model_training: flag,
    enable_paid_model_training: flag,
    enable_free_model_publication: flag,
    content_filter_builtins: z
      .array(
        z.object({
          slug: z.enum(BUILTIN_FILTERS),
          action,
          label: z.string().optional(),
          scan_scope: z.enum(['user_only', 'all_messages']).optional(),
        }),
      )
      .readonly()
      .nullable(),
    content_filters: z
      .array(z.object({ pattern: z.string(), action, label: z.string().nullable().optional() }))
      .readonly()
      .nullable(),
    limit_usd: z.number().nullable(),
    reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable(),
    include_byok_in_budgets: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
  }),
)
export const guardrailAnswer = z.object({ data: guardrailShape })
export const guardrailsAnswer = z.object({ data: z.array(guardrailShape), total_count: z.int() })

const assignmentShape = component(
  'GuardrailKeyAssignment',
  z.object({
    id: z.string(),
    guardrail_id: z.string(),
    key_hash: z.string(),
    key_name: z.string(),
    key_label: z.string(),
    assigned_by: z.string().nullable(),
    created_at: z.iso.datetime(),
  }),
)
export const assignmentsAnswer = z.object({ data: z.array(assignmentShape), total_count: z.int() })
export const assignedAnswer = z.object({ assigned_count: z.int() })
export const unassignedAnswer = z.object({ unassigned_count: z.int() })

export function presentGuardrail({
  id,
  workspaceId,
  name: title,
  description: text,
  rules,
  createdAt,
  updatedAt,
}: StoredGuardrail): z.output<typeof guardrailShape> {
  return {
    id,
    workspace_id: workspaceId,
    name: title,
    description: text,
    allowed_models: rules.allowed_models ?? null,
    ignored_models: rules.ignored_models ?? null,
    allowed_providers: rules.allowed_providers ?? null,
    ignored_providers: rules.ignored_providers ?? null,
    enforce_zdr: rules.enforce_zdr ?? null,
    enforce_zdr_anthropic: rules.enforce_zdr_anthropic ?? null,
    enforce_zdr_google: rules.enforce_zdr_google ?? null,
    enforce_zdr_openai: rules.enforce_zdr_openai ?? null,
    enforce_zdr_xai: rules.enforce_zdr_xai ?? null,
    enforce_zdr_other: rules.enforce_zdr_other ?? null,
    enable_free_model_training: rules.enable_free_model_training ?? null,
    enable_paid_model_training: rules.enable_paid_model_training ?? null,
    enable_free_model_publication: rules.enable_free_model_publication ?? null,
    content_filter_builtins: rules.content_filter_builtins ?? null,
    content_filters: rules.content_filters ?? null,
    limit_usd: rules.limit_usd ?? null,
    reset_interval: rules.reset_interval ?? null,
    include_byok_in_budgets: rules.include_byok_in_budgets ?? false,
    created_at: isoTime(createdAt),
    updated_at: updatedAt === null ? null : isoTime(updatedAt),
  }
}

export function presentAssignment(assignment: GuardrailAssignment, key: ApiKey | undefined): z.output<typeof assignmentShape> {
  return {
    id: assignment.id,
    guardrail_id: assignment.guardrailId,
    key_hash: assignment.keyHash,
    key_name: key?.name ?? '',
    key_label: key?.label ?? '',
    assigned_by: assignment.assignedBy,
    created_at: isoTime(assignment.createdAt),
  }
}
