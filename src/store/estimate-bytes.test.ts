import { describe, expect, it } from 'vitest'
import { sampleContent, sampleGeneration } from '../testing/sample-records.ts'
import { estimateBytes, estimateRecordBytes } from './estimate-bytes.ts'
import { threadTime } from '../testing/thread-time.ts'

const text = (length: number) => 'x'.repeat(length)
const sizeOf = (value: unknown) => JSON.stringify(value).length

describe('the estimate of bytes', () => {
  it.each([
    ['a long text', { a: text(1_000_000) }],
    ['a long list', Array.from({ length: 50_000 }, (_, i) => ({ role: 'user', content: `message ${i} ${text(100)}` }))],
    ['a wide object', Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key-${i}`, text(50)]))],
    ['a deep tree', Array.from({ length: 3_000 }).reduce<unknown>((inner) => ({ inner, text: text(500) }), {})],
    ['long texts in a long list', Array.from({ length: 1_000 }, () => [text(10_000)])],
  ])('of %s is within a factor of two and a half', (_name, value) => {
    expect(estimateBytes(value)).toBeGreaterThan(sizeOf(value) / 2.5)
    expect(estimateBytes(value)).toBeLessThan(sizeOf(value) * 2.5)
  })

  it('of a value made to mislead it stays near its size, and costs no more than a moment', () => {
    const nest = (levels: number, width: number) =>
      Array.from({ length: levels }).reduce<unknown>((inner) => [inner, ...Array.from({ length: width }, () => 0)], text(1_000))
    for (const value of [nest(2_000, 1), nest(10, 10_000), nest(100, 1_000), [text(100_000), ...Array.from({ length: 1_000_000 }, () => 0)]]) {
      const started = threadTime()
      // In memory an element of a list takes eight bytes, in JSON as few as two.
      expect(estimateBytes(value)).toBeLessThan(sizeOf(value) * 40)
      expect(threadTime() - started).toBeLessThan(500)
    }
  })

  it('of a record is near its size, and grows with whatever callers can make large', () => {
    const plain = sampleGeneration('gen-1')
    expect(estimateRecordBytes({ generation: plain })).toBeGreaterThan(sizeOf(plain))
    const large = { blob: text(1_000_000) }
    const records = [
      { generation: sampleGeneration('gen-1', { trace: large }) },
      { generation: sampleGeneration('gen-1', { metadata: large }) },
      { generation: sampleGeneration('gen-1', { parameters: large }) },
      { generation: sampleGeneration('gen-1', { usage: { ...plain.usage, raw: large } }) },
      { generation: sampleGeneration('gen-1', { pipeline: [{ type: 'plugin', name: 'p', data: large }] }) },
      { generation: plain, content: { ...sampleContent, instructions: large.blob } },
    ]
    for (const record of records) expect(estimateRecordBytes(record)).toBeGreaterThan(1_000_000)
  })
})
