import { z } from 'zod'
import type { Handler } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Plugin, PluginContext } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import { healJson } from './shared/heal-json.ts'

const settings = z.object({})

type Mode = 'json_object' | 'json_schema'

/** Repairs answers that should be JSON and nearly are. Only complete answers: what has been streamed cannot be taken back. */
export const responseHealing: Plugin<z.infer<typeof settings>> = {
  id: 'response-healing',
  settings,
  sparesStreams: ({ text }) => text?.format !== undefined && text.format.type !== 'text',
  wrap(next, { text }, context) {
    const format = text?.format
    if (format === undefined || format.type === 'text' || context.call.stream) return next
    return heal(next, format.type, format.type === 'json_schema' ? format.schema : undefined, context)
  },
}

type Report = PluginContext['report']

function heal(next: Handler, mode: Mode, schema: JsonObject | undefined, { report }: { readonly report: Report }): Handler {
  return async function* (call) {
    // Nothing is read before the end, so holding everything back costs no time.
    const buffered: ModelEvent[] = []
    for await (const events of next(call)) buffered.push(...events)
    const end = buffered.at(-1)
    // A repair would close a cut answer so that it looks complete.
    const isWhole = end?.type === 'response-end' && end.reason === 'stop'
    yield isWhole ? healed(buffered, mode, schema, report) : buffered
  }
}

/** The final text of the answer; what a model writes between its tool calls is not JSON. */
interface FinalText {
  readonly key: string
  readonly part: number | undefined
  text: string
}

function finalText(events: readonly ModelEvent[]): FinalText | undefined {
  let final: FinalText | undefined
  for (const event of events) {
    if (event.type !== 'text-delta') continue
    const { key, part, delta } = event
    if (final?.key === key && final.part === part) final.text += delta
    else final = { key, part, text: delta }
  }
  return final
}

function healed(events: readonly ModelEvent[], mode: Mode, schema: JsonObject | undefined, report: Report): readonly ModelEvent[] {
  const final = finalText(events)
  const json = final === undefined ? undefined : healJson(final.text, schema)
  if (final === undefined || json === undefined) return events
  report({
    stage: {
      type: 'response_healing',
      name: 'response-healing',
      summary: 'the answer was not valid JSON and was repaired',
      data: { mode, improved: true, original_length: final.text.length, healed_length: json.length },
    },
  })
  return replaceText(events, final, json)
}

/** The first delta becomes the whole text. Citations are dropped with the other deltas, because their offsets no longer match. */
function replaceText(events: readonly ModelEvent[], { key, part }: FinalText, json: string): readonly ModelEvent[] {
  let isReplaced = false
  return events.flatMap((event): ModelEvent[] => {
    if ((event.type !== 'text-delta' && event.type !== 'annotation') || event.key !== key || event.part !== part) return [event]
    if (event.type === 'annotation' || isReplaced) return []
    isReplaced = true
    return [{ type: 'text-delta', key, delta: json, ...(part === undefined ? {} : { part }) }]
  })
}
