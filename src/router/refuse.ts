import type { Catalog } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import { describeRejection, REJECTION } from './filter.ts'
import type { Rejection } from './filter.ts'
import type { Ranked } from './places.ts'
import type { Demand } from './prefer.ts'
import { rejectionOf } from './select.ts'
import type { Selection } from './select.ts'
import type { ProviderPreferences } from '../core/request.ts'
import { closest } from '../lib/closest.ts'

/** The reason, by endpoint id, why each endpoint without a place in the order has none. */
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

interface Unmet {
  readonly path: string
  readonly says: string
}

/** What a request can ask only of some vendors, and would be another request without. */
const UNMET: ReadonlyMap<Rejection, Unmet> = new Map<Rejection, Unmet>([
  [REJECTION.storedPrompt, { path: 'prompt', says: '"prompt" names a stored prompt, and there is no message in "input".' }],
  [REJECTION.compaction, { path: 'input', says: '"compaction_trigger" asks the vendor to compact the conversation.' }],
])

const LISTED = 6
const MAX_MESSAGE = 900

/**
 * 404 that lists who serves the models and what excluded each; 403 if only guardrails excluded them; 400 if the prompt is beyond doubt too long for
 * all that remain, or if some would serve the request without what only other vendors do (`UNMET`).
 */
export function nothingLeft(requested: string, selections: readonly Selection[], demand: Demand, off: readonly string[]): GatewayError {
  let longest = 0
  let tooLong = true
  let guarded = false
  let forbidden = true
  let unmet: Unmet | undefined
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
      unmet ??= UNMET.get(code)
      if (lines.length === LISTED) continue
      const { tag, model } = endpoints[i]!
      lines.push(`${tag}${selections.length > 1 ? ` (${model})` : ''}: ${describeRejection(code, demand, group, i)}`)
    }
  }
  if (tooLong && longest > 0) {
    return new GatewayError(
      'context_length_exceeded',
      // Agents recognize this refusal by vendors' wording alone, and then shorten the conversation.
      `The maximum context length is ${longest} tokens for "${requested}", and the input is about ${demand.inputTokens} tokens long.`,
    )
  }
  const more = total - lines.length
  const served = lines.length === 0 ? 'No endpoint serves it.' : `${lines.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`
  const message = `No endpoint can serve "${requested}" as requested. ${served}`.slice(0, MAX_MESSAGE)
  if (guarded && forbidden) return new GatewayError('permission_denied', message, { failover: 'never', metadata: { reason: 'guardrail' } })
  if (unmet !== undefined) return new GatewayError('invalid_prompt', `${unmet.says} ${message}`.slice(0, MAX_MESSAGE), { path: unmet.path })
  return new GatewayError('not_found', [message, ...off].join(' '))
}

/** 404 for unknown names, with names that may have been meant, and with how to switch on their providers. */
export function unknownModel(names: readonly string[], leftOut: number, catalog: Catalog): GatewayError {
  const known = similarNames(names[0] ?? '', catalog)
  const off = [...new Set(names.slice(0, LISTED).flatMap((name) => catalog.off?.(authorOf(name)) ?? []))]
  const list = names.slice(0, 3).map((name) => JSON.stringify(name.slice(0, 120)))
  const rest = leftOut > 0 ? [`Only the first ${names.length} models of a request are tried.`] : []
  const hints = [...rest, ...(known.length > 0 ? [`Did you mean ${known.join(', ')}?`] : []), ...off]
  const hint = hints.length > 0 ? hints.join(' ') : 'GET /api/v1/models lists what is served.'
  return new GatewayError('not_found', `No endpoint serves the model ${list.join(' or ')}. ${hint}`.slice(0, MAX_MESSAGE), { path: 'model' })
}

/** How to switch on the providers a request names, if they are off. */
export function namedButOff({ only, order }: ProviderPreferences, catalog: Catalog): readonly string[] {
  return [...(only ?? []), ...(order ?? [])].slice(0, LISTED).flatMap((tag) => catalog.off?.(authorOf(`${tag}/`)) ?? [])
}

const authorOf = (name: string): string => name.replace(/^~/, '').split('/', 1)[0]!.toLowerCase()

const SHOWN = 3
/** Longer names are not typing errors, and comparing them takes time proportional to the square of their length. */
const MAX_COMPARED = 64

/** Names that contain what was asked for; otherwise the one that differs in a few letters. */
function similarNames(name: string, catalog: Catalog): readonly string[] {
  const wanted = name.toLowerCase().replace(/^~/, '')
  const author = wanted.slice(0, wanted.indexOf('/') + 1)
  const tail = wanted.slice(author.length).split(':')[0] ?? ''
  const holding: string[] = []
  const byAuthor = new Map<string, string[]>()
  for (const { slug } of catalog.models()) {
    if (holding.length === SHOWN) break
    if (tail.length >= 3 && slug.toLowerCase().includes(tail)) holding.push(slug)
    const home = slug.slice(0, slug.indexOf('/') + 1)
    const models = byAuthor.get(home)
    if (models === undefined) byAuthor.set(home, [slug])
    else models.push(slug)
  }
  if (holding.length > 0 || author === '' || wanted.length > MAX_COMPARED) return holding
  // First the author, then the author's models: some hundred comparisons instead of some thousand.
  const home = byAuthor.has(author) ? author : closest(author, [...byAuthor.keys()])
  const nearest = home === undefined ? undefined : closest(`${home}${tail}`, byAuthor.get(home)!)
  return nearest === undefined ? [] : [nearest]
}
