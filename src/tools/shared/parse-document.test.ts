import { Worker } from 'node:worker_threads'
import { describe, expect, it, vi } from 'vitest'
import { DocumentParser } from './parse-document.ts'

const html = (text: string): { readonly bytes: Buffer; readonly kind: 'html'; readonly charset: string } => ({
  bytes: Buffer.from(text),
  kind: 'html',
  charset: 'utf-8',
})
const SLOW = html(`<html><body>${'<div><p>abc, def, ghi <a href="https://x.y/">l</a>'.repeat(60_000)}</body></html>`)

describe('documents in the queue', () => {
  it('that are cancelled leave the queue at once, and the next is read', async () => {
    const parser = new DocumentParser()
    const patient = new AbortController()
    const first = [1, 2].map(() => parser.parse(SLOW, patient.signal, 3_000).catch((error: Error) => error.message))
    const impatient = new AbortController()
    const started = performance.now()
    const third = parser.parse(html('<p>never'), impatient.signal)
    const fourth = parser.parse(html('<p>read'), patient.signal)
    setTimeout(() => impatient.abort(), 50)
    await expect(third).rejects.toThrow('given up')
    expect(performance.now() - started).toBeLessThan(2_000)
    expect((await fourth).text).toContain('read')
    await Promise.all(first)
  })
})

it('a look at a worker that ends after its document does not end the worker under the next one', async () => {
  const looks: PromiseWithResolvers<{ readonly external_memory: number }>[] = []
  const spy = vi.spyOn(Worker.prototype, 'getHeapStatistics').mockImplementation(() => {
    looks.push(Promise.withResolvers())
    return looks.at(-1)!.promise as never
  })
  try {
    const parser = new DocumentParser()
    const read = () => parser.parse(html('<p>read'), new AbortController().signal, 2_000)
    await read()
    expect(looks.length).toBeGreaterThan(0)
    for (const look of looks) look.resolve({ external_memory: Infinity })
    await new Promise(setImmediate)
    expect((await read()).text).toContain('read')
  } finally {
    spy.mockRestore()
  }
})
