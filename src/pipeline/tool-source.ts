import type { Call } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { GenerationStep } from '../core/generation.ts'
import type { InputItem, JsonObject } from '../core/item.ts'
import type { OpenedSource, SourceItem } from '../core/tool-source.ts'
import type { IdSource } from '../lib/id.ts'
import { abortReason } from './abort-reason.ts'
import type { ToolRegistry } from './tool-registry.ts'
import { choiceIndex } from './tool-choice.ts'
import type { Offer, OfferedTool, PendingSource } from './offered-tool.ts'
import { freeName, functionFor, namesOf } from './tool-offer.ts'
import type { PendingCall } from './tool-step.ts'

export interface OpenScene {
  readonly call: Call
  readonly newId: IdSource
  readonly steps: GenerationStep[]
}

/** An offer whose entries are all open, and what the answer says about that. */
export interface OpenOffer {
  readonly offer: Offer
  readonly events: readonly ModelEvent[]
}

/** Opens the entries that stand for other servers' functions, all at once, and adds these functions to the offer. Throws if the caller leaves. */
export async function openSources(offer: Offer, scene: OpenScene): Promise<OpenOffer> {
  if (offer.pending.length === 0) return { offer, events: [] }
  const opened = await Promise.all(offer.pending.map((entry) => openOne(entry, scene)))
  const byFunction = new Map(offer.byFunction)
  const tools = [...offer.tools]
  const taken = namesOf([...tools, ...offer.deferred], scene.call.request.input)
  const instances = new Map<string, number>()
  for (const [index, { functions, step }] of opened.entries()) {
    const { source, settings, type } = offer.pending[index]!
    for (const { tool, itemType, choice } of functions) {
      const functionName = freeName(tool.name, (name) => !taken.has(name))
      taken.add(functionName)
      const instance = instances.get(tool.name) ?? 0
      instances.set(tool.name, instance + 1)
      const tally = new Map<string, number>()
      const offered: OfferedTool = { tool, settings, type, itemType, functionName, instance, tally, uses: 0, source: source.name, choice }
      byFunction.set(functionName, offered)
      tools.push(functionFor(offered))
    }
    if (step !== undefined) scene.steps.push({ ...step, source: source.name })
  }
  const items = opened.flatMap((each) => each.items)
  return { offer: { ...offer, tools, byFunction, choice: offer.choose(byFunction), pending: [] }, events: items.flatMap(eventsOf) }
}

/** A caller who leaves waits for nobody. */
async function openOne({ source, settings, type }: PendingSource, { call, newId }: OpenScene): Promise<OpenedSource> {
  const { signal } = call
  const left = Promise.withResolvers<never>()
  const onAbort = (): void => left.reject(abortReason(signal))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const opening = source.open({ settings, type, call, newId }, call.request.input)
  opening.catch(() => undefined)
  try {
    return await Promise.race([left.promise, opening])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function eventsOf({ id, start, events, end }: SourceItem, index: number): readonly ModelEvent[] {
  const key = `source/${index}`
  return [
    { type: 'item-start', key, id, item: start },
    ...events.map((name): ModelEvent => ({ type: 'item-event', key, name })),
    { type: 'item-end', key, item: end },
  ]
}

/** The conversation with the items of all sources as calls and results, and the calls that were approved since. */
export function replaySources(
  input: readonly InputItem[],
  offer: Offer,
  registry: ToolRegistry,
): { readonly input: readonly InputItem[]; readonly due: readonly PendingCall[] } {
  const due: PendingCall[] = []
  let replayed = input
  const chosen = choiceIndex(offer.byFunction.values())
  for (const source of registry.sources) {
    if (offer.hostedSources.has(source) || !replayed.some(({ type }) => source.itemTypes.has(type))) continue
    const find = (choice: JsonObject): string | undefined => chosen({ type: source.type, ...choice })[0]?.functionName
    const result = source.replay(replayed, find)
    replayed = result.input
    for (const { functionName, callId, arguments: args, grant } of result.due) {
      due.push({ offered: offer.byFunction.get(functionName)!, name: functionName, callId, arguments: args, cut: false, grant })
    }
  }
  return { input: replayed, due }
}
