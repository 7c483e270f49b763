import { GatewayError } from '../../core/error.ts'
import type { JsonObject, Tool } from '../../core/item.ts'
import type { Preset } from '../../core/preset.ts'
import { canonicalType } from '../../core/own-names.ts'

/** Fields that a preset may set, besides the instructions. Fields of one conversation or one caller are not among them. */
export const PRESET_FIELDS: readonly string[] = [
  'model',
  'models',
  'provider',
  'plugins',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tool_calls',
  'stop_server_tools_when',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_k',
  'top_logprobs',
  'min_p',
  'top_a',
  'presence_penalty',
  'frequency_penalty',
  'repetition_penalty',
  'logit_bias',
  'seed',
  'stop',
  'reasoning',
  'text',
  'include',
  'truncation',
  'service_tier',
  'cache_control',
  'prompt_cache_options',
  'modalities',
  'image_config',
]

/** Fields of a preset that are not fields of a request, where they are headers. */
export const PRESET_ONLY_FIELDS: readonly string[] = ['cache_enabled', 'cache_ttl_seconds']

export interface PresetApplied {
  readonly body: unknown
  readonly preset?: Preset
}

const MARK = '@preset/'
/** A path segment of a URL that needs no escaping. */
export const PRESET_SLUG = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/

/**
 * The body with its preset filled in. A preset is named by `@preset/slug` or `author/slug@preset/slug` as the model, followed by variants, or by the field
 * `preset`. Each field of the body wins over the preset's; null counts as absent; lists of tools are joined (`joinTools`). The body is not modified; one
 * without a preset is returned as it is. Throws GatewayError `not_found` for a preset that `find` does not know, `invalid_request` for two presets or an
 * invalid name.
 */
export function applyPreset(body: unknown, find: (slug: string) => Preset | undefined): PresetApplied {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body }
  const fields = body as JsonObject
  const named = nameIn(fields)
  if (named === undefined) return { body }
  const preset = find(named.slug)
  if (preset === undefined)
    throw new GatewayError('not_found', `There is no preset ${JSON.stringify(named.slug)} in this workspace`, { path: named.path })
  return { body: merge(fields, named, preset), preset }
}

interface Named {
  readonly slug: string
  readonly path: string
  /** The model in the name; empty: the preset's own model. */
  readonly model?: string
  /** Variants after the slug, colon included. */
  readonly suffix: string
}

function nameIn({ model, models, preset }: JsonObject): Named | undefined {
  const list: readonly unknown[] = Array.isArray(models) ? models : []
  const first = typeof model === 'string' ? model : list[0]
  const inModel = typeof first === 'string' ? split(first, typeof model === 'string' ? 'model' : 'models[0]') : undefined
  const later = list.findIndex((name, index) => typeof name === 'string' && name.includes(MARK) && !(index === 0 && first === name))
  if (later >= 0) throw invalid(`models[${later}]`, 'names a preset; only the first model may')
  if (preset === undefined || preset === null || preset === '') return inModel
  if (typeof preset !== 'string') throw invalid('preset', 'must be the slug of a preset')
  const slug = preset.startsWith(MARK) ? preset.slice(MARK.length) : preset
  if (!PRESET_SLUG.test(slug)) throw invalid('preset', 'must be the slug of a preset')
  if (inModel !== undefined && inModel.slug !== slug)
    throw invalid('preset', `is another preset than the one of the model, ${JSON.stringify(inModel.slug)}`)
  return inModel ?? { slug, path: 'preset', suffix: '' }
}

function split(name: string, path: string): Named | undefined {
  const at = name.indexOf(MARK)
  if (at < 0) return undefined
  const [slug = '', ...variants] = name.slice(at + MARK.length).split(':')
  if (!PRESET_SLUG.test(slug)) throw invalid(path, `must have the slug of a preset after ${MARK}`)
  return { slug, path, model: name.slice(0, at), suffix: variants.map((variant) => `:${variant}`).join('') }
}

function merge(body: JsonObject, named: Named, { systemPrompt, config }: Preset): JsonObject {
  const merged: { [field: string]: unknown } = { ...body, ...modelsOf(body, named, config) }
  // If the body has `models` without `model`, the first of them is the primary.
  const { model, models } = merged
  const namesModels = (model === undefined || model === null) && Array.isArray(models) && models.length > 0
  for (const [field, value] of Object.entries(config)) {
    if ((field === 'model' && namesModels) || PRESET_ONLY_FIELDS.includes(field)) continue
    if (merged[field] === undefined || merged[field] === null) merged[field] = value
    else if (field === 'tools') merged[field] = joinTools(value, merged[field])
  }
  if (systemPrompt !== null) merged['instructions'] ??= systemPrompt
  return merged
}

/** The fields of the body that name models, with the preset removed from them. */
function modelsOf(body: JsonObject, { model, suffix, path }: Named, config: JsonObject): JsonObject {
  if (model === undefined) return {}
  const ofPreset = config['model'] ?? (config['models'] as readonly string[] | undefined)?.[0]
  const name = model !== '' ? model : ofPreset
  if (suffix !== '' && typeof name !== 'string') throw invalid(path, `asks for ${suffix}, but the preset names no model`)
  const full = typeof name === 'string' ? `${name}${suffix}` : undefined
  if (path === 'model') return { model: full }
  const rest = (body['models'] as readonly unknown[]).slice(1)
  return { models: full === undefined ? rest : [full, ...rest] }
}

/**
 * The preset's tools in their order, each replaced by the body's tool of the same identity, then the body's other tools. Tools are the same if their type
 * (in any spelling) and name are; several agents of one type are distinguished by `parameters.name`, MCP servers by their label.
 */
function joinTools(stored: unknown, own: unknown): unknown {
  // Not a list: validation refuses it later.
  if (!Array.isArray(stored) || !Array.isArray(own)) return own
  const replacing = new Map((own as readonly Tool[]).map((tool) => [identityOf(tool), tool]))
  const merged = (stored as readonly Tool[]).map((tool) => replacing.get(identityOf(tool)) ?? tool)
  const taken = new Set(merged.map(identityOf))
  return [...merged, ...(own as readonly Tool[]).filter((tool) => !taken.has(identityOf(tool)))]
}

function identityOf(tool: Tool): string {
  const { type, name, server_label: server, parameters } = (tool ?? {}) as JsonObject
  const settings = parameters as JsonObject | null | undefined
  const inside = name ?? server ?? settings?.['name'] ?? settings?.['server_label']
  return `${typeof type === 'string' ? canonicalType(type) : ''} ${typeof inside === 'string' ? inside : ''}`
}

const invalid = (path: string, reason: string): GatewayError => new GatewayError('invalid_request', `${path}: ${reason}`, { path })
