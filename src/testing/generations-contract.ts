import { describe, expect, it } from 'vitest'
import type { Generation, GenerationContent } from '../core/generation.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { createUsage } from '../core/usage.ts'
import { NOW, sampleContent, sampleGeneration } from './sample-records.ts'

/** What every database must do with records of calls. */
export function describeGenerations(store: () => Store): void {
  describe('generations', () => {
    it('returns the record as it was, to its workspace only', async () => {
      const generation = sampleGeneration('gen-1')
      await store().generations.insertMany([{ generation }])
      expect(await store().generations.get('gen-1')).toEqual(generation)
      expect(await store().generations.get('gen-1', DEFAULT_WORKSPACE_ID)).toEqual(generation)
      expect(await store().generations.get('gen-1', 'another')).toBeUndefined()
      expect(await store().generations.get('gen-2')).toBeUndefined()
    })

    it('keeps content only where it was handed over', async () => {
      await store().generations.insertMany([
        { generation: sampleGeneration('gen-1') },
        { generation: sampleGeneration('gen-2'), content: sampleContent },
        { generation: sampleGeneration('gen-3') },
      ])
      expect(await store().generations.content('gen-1')).toBeUndefined()
      expect(await store().generations.content('gen-2')).toEqual(sampleContent)
      expect(await store().generations.content('gen-2', DEFAULT_WORKSPACE_ID)).toEqual(sampleContent)
      expect(await store().generations.content('gen-2', 'another')).toBeUndefined()
    })

    it('leaves ids that exist as they are', async () => {
      await store().generations.insertMany([{ generation: sampleGeneration('gen-1'), content: sampleContent }])
      await store().generations.insertMany([
        { generation: sampleGeneration('gen-1', { status: 'failed' }), content: { input: [], output: [] } },
        { generation: sampleGeneration('gen-2') },
      ])
      expect((await store().generations.get('gen-1'))?.status).toBe('completed')
      expect(await store().generations.content('gen-1')).toEqual(sampleContent)
      expect(await store().generations.get('gen-2')).toBeDefined()
    })

    it('takes a batch of any size', async () => {
      await store().generations.insertMany([])
      for (const size of [1, 2, 127, 128, 129, 200, 1_000]) {
        const batch = Array.from({ length: size }, (_, i) => ({ generation: sampleGeneration(`gen-${size}-${i}`) }))
        await store().generations.insertMany(batch)
        expect((await store().generations.get(`gen-${size}-${size - 1}`))?.id).toBe(`gen-${size}-${size - 1}`)
        expect((await store().generations.get(`gen-${size}-0`))?.id).toBe(`gen-${size}-0`)
      }
    })

    it('are read in the order of their time, between two moments, each once though many share theirs', async () => {
      const at = (n: number) => NOW + Math.floor(n / 600)
      const all = Array.from({ length: 1_300 }, (_, n) => sampleGeneration(`gen-${String(n).padStart(4, '0')}`, { startedAt: at(n) }))
      await store().generations.insertMany([...all, sampleGeneration('gen-before', { startedAt: NOW - 1 })].map((generation) => ({ generation })))
      const read = async (from: number, to: number): Promise<readonly string[]> => {
        const ids: string[] = []
        for await (const batch of store().generations.between(from, to)) ids.push(...batch.map(({ id }) => id))
        return ids
      }
      expect(await read(NOW, NOW + 10)).toEqual(all.map(({ id }) => id))
      expect(await read(NOW + 1, NOW + 2)).toEqual(all.slice(600, 1_200).map(({ id }) => id))
      expect(await read(NOW + 3, NOW + 10)).toEqual([])
    })

    it('takes a failed call that reached nobody', async () => {
      const generation: Generation = {
        id: 'gen-1',
        workspaceId: 'gone',
        keyHash: 'h',
        keyName: 'k',
        apiType: 'responses',
        requestedModel: 'no/such',
        isByok: false,
        streamed: false,
        status: 'failed',
        errorType: 'not_found',
        httpStatus: 404,
        startedAt: NOW,
        endedAt: NOW,
        durationMs: 0,
        usage: createUsage({}),
        cost: { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'unknown' },
        strategy: 'direct',
        attempts: [],
        pipeline: [],
        parameters: {},
      }
      await store().generations.insertMany([{ generation }])
      expect(await store().generations.get('gen-1')).toEqual(generation)
    })

    it('survives text no database likes: NUL, lone surrogates, quotes', async () => {
      const odd = `a\0b\ud800c'"\\`
      await store().generations.insertMany([
        {
          generation: sampleGeneration('gen-1', { sessionId: odd, model: odd, metadata: { odd } }),
          content: { ...sampleContent, instructions: odd },
        },
      ])
      expect((await store().generations.get('gen-1'))?.metadata).toEqual({ odd })
      expect((await store().generations.content('gen-1'))?.instructions).toBe(odd)
    })

    it('leaves out what would make a record megabytes, and media from content', async () => {
      const megabytes = 'x'.repeat(3_000_000)
      await store().generations.insertMany([
        {
          generation: sampleGeneration('gen-1', { trace: { blob: megabytes }, parameters: { blob: megabytes } }),
          content: {
            input: [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(5_000)}` }] }],
            output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: megabytes }] }],
          },
        },
      ])
      const generation = await store().generations.get('gen-1')
      expect(JSON.stringify(generation).length).toBeLessThan(10_000)
      expect(generation).toMatchObject({ status: 'completed', usage: { inputTokens: 100 }, trace: { omitted: expect.any(String) } })
      const content = JSON.stringify(await store().generations.content('gen-1'))
      expect(content.length).toBeLessThan(1_000)
      expect(content).toContain('[omitted: image/png, 5022 characters]')
      expect(content).toContain('[omitted: text, 3000000 characters]')
    })

    it('keeps ids and names of a trace that is left out: destinations find the call by them', async () => {
      const names = { trace_id: 'order-7', trace_name: 'Checkout', span_name: 'Ask', generation_name: 'Draft', parent_span_id: 'b7ad6b7169203331' }
      const blob = 'x'.repeat(300_000)
      await store().generations.insertMany([
        { generation: sampleGeneration('gen-1', { trace: { blob, ...names, environment: 'live', release: blob } }), content: sampleContent },
      ])
      const { trace } = (await store().generations.get('gen-1'))!
      expect(trace).toEqual({ omitted: expect.any(String), ...names, environment: 'live' })
    })

    it('takes a record whose caller nested values deeper than JSON can be written', async () => {
      const deep = Array.from({ length: 50_000 }).reduce<object>((inner) => ({ inner }), {})
      const content: GenerationContent = { input: [{ type: 'function_call_output', deep }], output: [] }
      await store().generations.insertMany([
        { generation: sampleGeneration('gen-1', { trace: { deep } }), content },
        { generation: sampleGeneration('gen-2', { parameters: { deep } }), content: sampleContent },
      ])
      expect(await store().generations.get('gen-1')).toMatchObject({ status: 'completed', trace: { omitted: expect.any(String) } })
      expect(await store().generations.content('gen-1')).toBeUndefined()
      expect(await store().generations.content('gen-2')).toEqual(sampleContent)
    })

    it('refuses what no record can be, as a fault of the data', async () => {
      const impossible = sampleGeneration('gen-1', { httpStatus: 1n as unknown as number })
      await expect(store().generations.insertMany([{ generation: impossible }])).rejects.toMatchObject({ errorType: 'server' })
    })

    it('prunes the oldest in batches, content included', async () => {
      const batch = Array.from({ length: 10 }, (_, i) => ({
        generation: sampleGeneration(`gen-${i}`, { startedAt: NOW + i }),
        content: sampleContent,
      }))
      await store().generations.insertMany(batch)
      expect(await store().retention.expire('generations', NOW + 7, 5)).toEqual({ deleted: 5, more: true })
      expect(await store().generations.get('gen-4')).toBeUndefined()
      expect(await store().generations.content('gen-4')).toBeUndefined()
      expect(await store().generations.get('gen-5')).toBeDefined()
      expect(await store().retention.expire('generations', NOW + 7, 5)).toEqual({ deleted: 2, more: false })
      expect(await store().retention.expire('generations', NOW + 7, 5)).toEqual({ deleted: 0, more: false })
      expect(await store().generations.content('gen-7')).toEqual(sampleContent)
    })
  })
}
