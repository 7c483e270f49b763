import type { JsonObject } from './item.ts'

/** Strings that are references, bytes, credentials or terms of the contract. A model reads none of them as text. */
const NO_TEXT: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'item_id',
  'file_id',
  'status',
  'role',
  'phase',
  'syntax',
  'detail',
  'encrypted_content',
  'signature',
  'data',
  'file_data',
  'file_url',
  'image_url',
  'imageUrl',
  'video_url',
  'imageB64',
  'server_url',
  'authorization',
])
/** A map of credentials. */
const CREDENTIALS = 'headers'

/** Fields whose values are free-form JSON in any object: schemas, the arguments of tools, and why a call failed. */
const FREE_FIELDS: ReadonlySet<string> = new Set([
  'schema',
  'input_schema',
  'output_schema',
  'arguments',
  'input_examples',
  'action',
  'actions',
  'operation',
  'error',
])
/** Outputs of the caller's tools that are sent as JSON. Of a screenshot, only the image is sent. */
const TOLD_AS_JSON = /^(?:local_shell|shell|apply_patch|computer)_call_output$/
/** Items of tools that the gateway runs, and those tools. Models are told what such an item says as JSON, the ids of its files included. */
export const isOfGatewayTool = ({ type }: { readonly type?: unknown }): boolean => typeof type === 'string' && type.includes(':')
/** Fields of such tools that configure them. */
const SETTINGS: ReadonlySet<string> = new Set(['parameters', 'tools'])

/**
 * Whether a field of a tool, a format or an item is free-form JSON, whose names and values are all text of the caller. The `parameters` of tools
 * other than functions are settings.
 */
export function isFreeJson(field: string, value: unknown, fields: JsonObject): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { type } = fields
  if (FREE_FIELDS.has(field) || (field === 'parameters' && type === 'function')) return true
  if (isOfGatewayTool(fields)) return !SETTINGS.has(field)
  if (field !== 'output' || !TOLD_AS_JSON.test(String(type))) return false
  const { image_url: image } = value as JsonObject
  return typeof image !== 'string' || image === ''
}

/** Whether a model reads no part of a field of an item, a part or a tool as text. Not for free-form JSON, where field names mean nothing. */
export function isOpaqueField(field: string, value: unknown, fields: JsonObject): boolean {
  if (field === CREDENTIALS) return true
  if (field === 'file_id' && isOfGatewayTool(fields)) return false
  if (field === 'encrypted_content' && fields['type'] === 'encrypted_content') return isSealed(value)
  return typeof value === 'string' && (NO_TEXT.has(field) || (field === 'result' && isImage(fields)))
}

/** Items whose `result` is bytes; in other items it is text. */
const isImage = ({ type }: JsonObject): boolean => typeof type === 'string' && /(?:^image_generation_call|:image_generation)$/.test(type)

/** Encrypted text is one long word. If a model of another vendor wrote text in its place, that text was never encrypted and is read like any other. */
export const isSealed = (text: unknown): boolean => typeof text === 'string' && /^[\w+/=.-]{64,}$/.test(text)
