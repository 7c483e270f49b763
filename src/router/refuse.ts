import type { Catalog } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import { describeRejection, REJECTION } from './filter.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'
import { rejectionOf } from './select.ts'
import type { Selection } from './select.ts'

/** By endpoint id, why each endpoint without a place has none. */
export function rejections(selections: readonly Selection[], demand: Demand, order: readonly Ranked[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  const placed = new Set(order.map(({ group, index }) => group.columns.endpoints[index]!.id))
  for (const selection of selections) {
    const { endpoints } = selection.group.columns
    for (let i = 0; i < endpoints.length; i++) {
      const { id } = endpoints[i]!
      if (placed.has(id) || map.has(id)) continue
      const code = rejectionOf(selection, demand, i)
      if (code !== REJECTION.none) map.set(id, describeRejection(code, demand, selection.group, i))
    }
  }
  return map
}

const LISTED = 6
const MAX_MESSAGE = 900

/**
 * 404 that lists who serves the models and what excluded each; 403 when guardrails alone did; 400 when the prompt is beyond doubt too long for
 * all that remain, or when some would serve a request with words of its own.
 */
export function nothingLeft(requested: string, selections: readonly Selection[], demand: Demand): GatewayError {
  let longest = 0
  let tooLong = true
  let guarded = false
  let forbidden = true
  let wordless = false
  let total = 0
  const lines: string[] = []
  for (const selection of selections) {
    const { group } = selection
    const { endpoints, context } = group.columns
    total += endpoints.length
    for (let i = 0; i < endpoints.length; i++) {
      const code = rejectionOf(selection, demand, i)
      if (code === REJECTION.contextCertain) longest = Math.max(longest, context[i]!)
      else if (code !== REJECTION.variant && code !== REJECTION.tierNotAsked) tooLong = false
      if (code !== REJECTION.variant && code !== REJECTION.tierNotAsked && code !== REJECTION.guardrail) forbidden = false
      guarded ||= code === REJECTION.guardrail
      wordless ||= code === REJECTION.storedPrompt
      if (lines.length === LISTED) continue
      const { tag, model } = endpoints[i]!
      lines.push(`${tag}${selections.length > 1 ? ` (${model})` : ''}: ${describeRejection(code, demand, group, i)}`)
    }
  }
  if (tooLong && longest > 0) {
    return new GatewayError(
      'context_length_exceeded',
      `The input is about ${demand.inputTokens} tokens long; the longest context that could serve "${requested}" is ${longest} tokens.`,
    )
  }
  const more = total - lines.length
  const served = lines.length === 0 ? 'No endpoint serves it.' : `${lines.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`
  const message = `No endpoint can serve "${requested}" as requested. ${served}`.slice(0, MAX_MESSAGE)
  if (guarded && forbidden) return new GatewayError('permission_denied', message, { failover: 'never', metadata: { reason: 'guardrail' } })
  if (wordless) {
    const path = 'prompt'
    return new GatewayError(
      'invalid_prompt',
      `"prompt" names a stored prompt, and there is no message in "input". ${message}`.slice(0, MAX_MESSAGE),
      { path },
    )
  }
  return new GatewayError('not_found', message)
}

/** 404 for names nobody serves, with what may have been meant. */
export function unknownModel(names: readonly string[], catalog: Catalog): GatewayError {
  const known: string[] = []
  const wanted = (names[0] ?? '').toLowerCase().replace(/^~/, '')
  const author = wanted.slice(0, wanted.indexOf('/') + 1)
  const tail = wanted.slice(author.length).split(':')[0] ?? ''
  for (const { slug } of catalog.models()) {
    if (known.length === 3) break
    if (tail.length >= 3 && slug.toLowerCase().includes(tail)) known.push(slug)
  }
  const list = names.slice(0, 3).map((name) => JSON.stringify(name.slice(0, 120)))
  const hint = known.length > 0 ? ` Did you mean ${known.join(', ')}?` : ' GET /api/v1/models lists what is served.'
  return new GatewayError('not_found', `No endpoint serves the model ${list.join(' or ')}.${hint}`, { path: 'model' })
}
