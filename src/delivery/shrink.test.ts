import { describe, expect, it } from 'vitest'
import type { DeliveryRecord } from '../core/delivery.ts'
import { fullGeneration } from '../testing/sample-generations.ts'
import { toDeliveryRecord } from './record.ts'
import { shrinkRecord } from './shrink.ts'

const long = 'w'.repeat(50_000)
const { generation, content } = fullGeneration()

const record = (privacyMode: boolean, words = long): DeliveryRecord =>
  toDeliveryRecord(
    { ...generation, parameters: { stop: [words] }, trace: { note: words, deep: [{ note: words }] } },
    {
      ...content,
      instructions: words,
      output: [{ type: 'gateway:datetime', id: 'dt_1', call_id: 'call_dt', status: 'completed', arguments: words, output: words }],
    },
    { privacyMode, broadcast: { cost: false, identity: false, requestContext: false } },
  )

describe('a record that is too large', () => {
  it('loses words everywhere, step by step, then its content, and says so', () => {
    const sizes: number[] = []
    for (let step = 1, shorter = shrinkRecord(record(false), 1); shorter !== undefined; shorter = shrinkRecord(record(false), ++step)) {
      sizes.push(JSON.stringify(shorter).length)
      expect(shorter.truncated).toBe(true)
      expect(shorter.generation.usage).toEqual(generation.usage)
      if (step === 1) {
        for (const text of [shorter.content?.instructions, shorter.metadata['note'], shorter.children.at(-1)?.input, shorter.children.at(-1)?.output])
          expect(text).toBe(`${'w'.repeat(16_384)} [truncated from 50000 characters]`)
        expect(shorter.generation.parameters['stop']).toEqual([`${'w'.repeat(16_384)} [truncated from 50000 characters]`])
      }
    }
    expect(sizes).toHaveLength(3)
    expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes)
    const last = shrinkRecord(record(false), 3)
    expect(last?.content).toBeUndefined()
    expect(last?.children.at(-1)).not.toHaveProperty('input')
  })

  it('is shortened once where it has no content: nothing is left to cut then', () => {
    expect(shrinkRecord(record(true), 1)?.metadata['deep']).toEqual([{ note: `${'w'.repeat(16_384)} [truncated from 50000 characters]` }])
    expect(shrinkRecord(record(true), 2)).toBeUndefined()
  })

  it('never ends in half a character', () => {
    for (const words of ['\u{1f600}'.repeat(20_000), `x${'\u{1f600}'.repeat(20_000)}`])
      expect(JSON.stringify(shrinkRecord(record(false, words), 1))).not.toMatch(/\\ud[89a-f]/)
  })
})
