import { describe, expect, it } from 'vitest'
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
