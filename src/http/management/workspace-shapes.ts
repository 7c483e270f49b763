import { z } from 'zod'
import { INTERVALS, type Interval } from '../../core/counter.ts'
import type { StoredBudget } from '../../core/limit-settings.ts'
import type { SpendFigures, Workspace } from '../../core/store.ts'
import { SORT_KEYS } from '../../core/request.ts'
import { uuidFromId } from '../../lib/derived-id.ts'
import { rateLimitsField } from './key-shapes.ts'
import { amountField, isoTime, limitField, offsetField } from './request-input.ts'
import { component } from './route-doc.ts'
import { presentSpent, spentFields } from './spent-fields.ts'

/** Shapes of `/api/v1/workspaces` and its budgets on the wire. */

/** Presets are applied before defaults, so a preset as the default would make every call without a model fail. */
const defaultModel = z
  .string()
  .max(256)
  .refine((text) => !text.includes('@preset/'), 'a preset cannot be a default; name a model')
  .nullable()
  .optional()

const fields = {
  description: z.string().max(500).nullable().optional(),
  default_text_model: defaultModel.describe('Serves calls that name no model.'),
  default_image_model: defaultModel.describe('Serves calls that name no model and want images.'),
  default_provider_sort: z.enum(SORT_KEYS).nullable().optional().describe('How endpoints are sorted for calls that do not say it.'),
  io_logging_api_key_ids: z
    .array(z.union([z.int(), z.string().max(128)]))
    .max(1_000)
    .nullable()
    .optional()
    .describe('Hashes of the keys whose calls are stored; null: all. Numbers are accepted but match no key, because keys have no numbers here.'),
  io_logging_sampling_rate: z.number().min(0).max(1).optional(),
  is_data_discount_logging_enabled: z.boolean().optional(),
  is_observability_broadcast_enabled: z.boolean().optional().describe('Whether calls are forwarded to destinations.'),
  is_observability_io_logging_enabled: z.boolean().optional().describe('Whether prompts and answers are stored.'),
  rate_limits: rateLimitsField,
}
const slug = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'lower-case letters and digits in groups joined by single dashes')
  // A slug must not look like an id: a request with the id of a deleted workspace would reach another one.
  .refine((text) => !z.guid().safeParse(text).success, 'no id: workspaces are named by id or slug, and one must not pass for another')
const name = z.string().min(1).max(100)

export const createWorkspaceBody = component('CreateWorkspaceRequest', z.strictObject({ name, slug, ...fields }))
export const updateWorkspaceBody = component('UpdateWorkspaceRequest', z.strictObject({ name: name.optional(), slug: slug.optional(), ...fields }))
export const listWorkspacesQuery = z.object({ offset: offsetField, limit: limitField })

const workspace = component(
  'Workspace',
  z.object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    default_guardrail_id: z.uuid(),
    default_text_model: z.string().nullable(),
    default_image_model: z.string().nullable(),
    default_provider_sort: z.string().nullable(),
    io_logging_api_key_ids: z.array(z.union([z.int(), z.string()])).nullable(),
    io_logging_sampling_rate: z.number(),
    is_data_discount_logging_enabled: z.boolean(),
    is_observability_broadcast_enabled: z.boolean(),
    is_observability_io_logging_enabled: z.boolean(),
    include_byok_in_budgets: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
    created_by: z.string().nullable(),
    rate_limits: rateLimitsField,
    // Beyond the contract, with the names that keys have.
    ...spentFields,
  }),
)
export const workspaceAnswer = z.object({ data: workspace })
export const workspacesAnswer = z.object({ data: z.array(workspace), total_count: z.int() })
type WireWorkspace = z.output<typeof workspace>

/** The contract's workspace. A row edited by hand is shown as it is. */
export function presentWorkspace(
  { id, slug: own, name: title, description, createdAt, updatedAt, settings }: Workspace,
  spend: SpendFigures,
): WireWorkspace {
  const stored = settings as Partial<WireWorkspace>
  return {
    id,
    slug: own,
    name: title,
    description,
    default_guardrail_id: uuidFromId(`default guardrail of ${id}`),
    default_text_model: stored.default_text_model ?? null,
    default_image_model: stored.default_image_model ?? null,
    default_provider_sort: stored.default_provider_sort ?? null,
    io_logging_api_key_ids: stored.io_logging_api_key_ids ?? null,
    io_logging_sampling_rate: stored.io_logging_sampling_rate ?? 1,
    is_data_discount_logging_enabled: stored.is_data_discount_logging_enabled ?? false,
    is_observability_broadcast_enabled: stored.is_observability_broadcast_enabled ?? true,
    is_observability_io_logging_enabled: stored.is_observability_io_logging_enabled ?? false,
    include_byok_in_budgets: settings['include_byok_in_budgets'] === true,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    created_by: stored.created_by ?? null,
    ...(stored.rate_limits == null ? {} : { rate_limits: stored.rate_limits }),
    ...presentSpent(spend),
  }
}

export const upsertBudgetBody = component(
  'UpsertWorkspaceBudgetRequest',
  z.strictObject({
    // Not `positive`, whose error message for zero is hard to understand.
    limit_usd: amountField.gt(0, 'more than 0 is expected'),
    include_byok_in_budgets: z.boolean().optional(),
  }),
)
export const intervalParam = z.object({ id: z.string().describe('Id or slug.'), interval: z.enum(INTERVALS) })

const budget = component(
  'WorkspaceBudget',
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    limit_usd: z.number(),
    reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable().describe('null: never.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)
export const budgetAnswer = z.object({ data: budget, include_byok_in_budgets: z.boolean() })
export const budgetsAnswer = z.object({ data: z.array(budget), include_byok_in_budgets: z.boolean() })

export function presentBudget({ id }: Workspace, interval: Interval, stored: StoredBudget): z.output<typeof budget> {
  return {
    id: stored.id,
    workspace_id: id,
    limit_usd: stored.limit_usd,
    reset_interval: interval === 'lifetime' ? null : interval,
    created_at: isoTime(stored.created_at),
    updated_at: isoTime(stored.updated_at),
  }
}
