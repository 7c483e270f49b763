import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../core/event.ts'
import type { AskOptions, ModelAnswer, ToolContext } from '../core/extension.ts'
import type { JsonObject } from '../core/item.ts'
import { testAnswer, testCall } from '../testing/plugin-context.ts'
import { createFusion } from './fusion.ts'

const tool = createFusion({ models: ['acme/small'], defaultTools: [], outputLimit: () => Infinity })

/** The events that a run of the tool emits, with a panel of one model that answers with these events. */
async function emitted(
  events: readonly ModelEvent[],
  answer: ModelAnswer,
): Promise<readonly { readonly name: string; readonly fields: JsonObject }[]> {
  const bodies: { name: string; fields: JsonObject }[] = []
  const ask = async (_request: unknown, options: AskOptions = {}): Promise<ModelAnswer> => {
    for (const event of events) options.onEvents?.([event])
    return answer
  }
  const emit = (name: string, fields: JsonObject = {}): void => void bodies.push({ name, fields })
  const context = { settings: tool.settings.parse({}), call: testCall(), uses: 1, ask, emit } as unknown as ToolContext<never>
  await tool.execute({ prompt: 'why?' }, context)
  return bodies
}

const text = (delta: string): ModelEvent => ({ type: 'text-delta', key: 'm', delta })
const thought = (delta: string): ModelEvent => ({ type: 'reasoning-delta', key: 'r', kind: 'text', delta })

describe('what the panel writes, while it writes', () => {
  const deltas = async (events: readonly ModelEvent[], name: string): Promise<readonly unknown[]> =>
    (await emitted(events, testAnswer('x'))).filter((event) => event.name === name).map(({ fields }) => fields['delta'])

  it('comes as it is written', async () => {
    expect(await deltas([thought('hm'), text('a'), text('b')], 'fusion_call.panel.delta')).toEqual(['a', 'b'])
    expect(await deltas([thought('hm'), text('a'), text('b')], 'fusion_call.panel.reasoning.delta')).toEqual(['hm'])
  })

  it('consists of whole characters even if the provider splits one', async () => {
    expect(await deltas([text('a\ud83d'), text('\ude00b')], 'fusion_call.panel.delta')).toEqual(['a', '😀b'])
    expect(await deltas([thought('\ud83d'), text('a'), thought('\ude00')], 'fusion_call.panel.reasoning.delta')).toEqual(['😀'])
    expect(await deltas([text('a'), text('\ud83d')], 'fusion_call.panel.delta')).toEqual(['a', '\ufffd'])
  })
})
