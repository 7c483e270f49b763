import { describe, expect, it } from 'vitest'
import type { Target } from '../../core/dialect.ts'
import type { InputItem } from '../../core/item.ts'
import { user } from '../request-features.ts'
import { ANSWER, REQUEST } from './subject.ts'
import type { Subject } from './subject.ts'

/** Reasoning returns to the vendor that minted it and to no other. */
export function describeReasoning({ dialect, voice, target, stream }: Subject): void {
  describe('reasoning', () => {
    const replayed = (target2: Target): string => {
      const items: InputItem[] = []
      const open = new Map<string, { [field: string]: unknown }>()
      const texts = new Map<string, string>()
      for (const event of stream(ANSWER)) {
        if (event.type === 'item-start') {
          const item: { [field: string]: unknown } = { ...event.item }
          open.set(event.key, item)
          items.push(item as unknown as InputItem)
        } else if (event.type === 'arguments-delta' || event.type === 'text-delta') {
          texts.set(event.key, `${texts.get(event.key) ?? ''}${event.delta}`)
        } else if (event.type === 'item-end') {
          const item = open.get(event.key)!
          const text = texts.get(event.key) ?? ''
          Object.assign(
            item,
            item['type'] === 'message' ? { content: [{ type: 'output_text', text }] } : item['type'] === 'function_call' ? { arguments: text } : {},
            event.item,
          )
        }
      }
      // Some clients send back only these fields.
      const history = items.map((item) =>
        item.type === 'reasoning'
          ? { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: (item as { encrypted_content?: string }).encrypted_content ?? null }
          : item,
      )
      const results = items.flatMap((item): InputItem[] =>
        item.type === 'function_call' ? [{ type: 'function_call_output', call_id: item.call_id as string, output: 'ok' }] : [],
      )
      return dialect.encodeRequest({ ...REQUEST, input: [user('q'), ...history, ...results] }, target2).body
    }
    it('is sent back to its account, from its envelope alone', () => {
      expect(replayed(target).includes(ANSWER.reasoning!.secret)).toBe(voice.returnsSecret)
    })
    it('never reaches another account', () => {
      expect(replayed({ ...target, scope: 'somebody else' })).not.toContain(ANSWER.reasoning!.secret)
    })
  })
}
