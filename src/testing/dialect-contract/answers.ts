import { describe, expect, it } from 'vitest'
import { GatewayError, isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { EventStreamError } from '../../lib/aws-event-stream.ts'
import { checkEventBalance, foldEvents } from '../event-balance.ts'
import { ANSWER, REQUEST, TEXT } from './subject.ts'
import type { Subject } from './subject.ts'

/** Incoming answers: whole, in pieces and damaged. */
export function describeAnswers({ dialect, voice, target, feed, stream }: Subject): void {
  describe('answers', () => {
    it('have the content that the vendor sent', () => {
      const folded = foldEvents(stream(ANSWER))
      expect(folded.text).toBe(ANSWER.text)
      expect(folded.reasoning).toContain(ANSWER.reasoning!.text)
      expect(folded.calls.map(({ name, text }) => ({ name, arguments: JSON.parse(text) as unknown }))).toEqual(
        ANSWER.calls!.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) as unknown })),
      )
    })
    it('have the same usage in stream and body', () => {
      const end = stream(ANSWER).at(-1)
      expect(end).toMatchObject({
        type: 'response-end',
        reason: 'tool_calls',
        usage: { inputTokens: 30, cachedTokens: 10, cacheWriteTokens: 0, outputTokens: 12, totalTokens: 42 },
      })
      expect(stream(TEXT).at(-1)).toMatchObject({ reason: 'stop' })
    })
    it('are the same as one body', () => {
      const out: ModelEvent[] = []
      const decoder = dialect.decoder(REQUEST, { ...target, stream: false })
      decoder.body(voice.json(ANSWER), out)
      if (!decoder.finished) decoder.end(out)
      checkEventBalance(out)
      expect(decoder.finished).toBe(true)
      expect(foldEvents(out)).toEqual(foldEvents(stream(ANSWER)))
      const usage = (events: readonly ModelEvent[]): unknown =>
        events.flatMap((event) => (event.type === 'response-end' ? [{ ...event.usage, raw: undefined }] : []))
      expect(usage(out)).toEqual(usage(stream(ANSWER)))
    })
    it('do not depend on how their bytes are cut', () => {
      const whole = stream(ANSWER)
      for (const cut of [1, 2, 3, 5, 17, 64, 1000]) expect(stream(ANSWER, REQUEST, cut)).toEqual(whole)
    })
    it('that break off are failures, never complete', () => {
      const frames = voice.stream(ANSWER)
      for (let kept = 0; kept < frames.length; kept++) {
        const out: ModelEvent[] = []
        const decoder = dialect.decoder(REQUEST, target)
        let error: unknown
        try {
          feed(decoder, Buffer.concat(frames.slice(0, kept)), 1000, out)
        } catch (thrown) {
          error = thrown
        }
        // Once the model has given its finish reason, only facts about the answer are missing.
        if (error === undefined) {
          checkEventBalance(out)
          expect(foldEvents(out).calls).toEqual(foldEvents(stream(ANSWER)).calls)
        } else {
          expect(isGatewayError(error) && error.errorType).toBe('provider_unavailable')
          expect(out.some(({ type }) => type === 'response-end')).toBe(false)
        }
        if (kept < frames.length - 3) expect(error).toBeInstanceOf(GatewayError)
      }
    })
    it('that are damaged give events or a typed error, in bounded time', () => {
      const bytes = Buffer.concat(voice.stream(ANSWER))
      for (let at = 0; at < bytes.length; at += 7) {
        const damaged = Buffer.from(bytes)
        damaged[at] = damaged[at]! ^ 0x15
        const out: ModelEvent[] = []
        try {
          feed(dialect.decoder(REQUEST, target), damaged, 64, out)
          checkEventBalance(out)
        } catch (error) {
          expect(error instanceof GatewayError || error instanceof EventStreamError ? 'typed' : error).toBe('typed')
        }
      }
    })
    it('are finished once, and silent after that', () => {
      const out: ModelEvent[] = []
      const decoder = dialect.decoder(REQUEST, target)
      expect([decoder.finished, decoder.settled ?? false]).toEqual([false, false])
      feed(decoder, Buffer.concat(voice.stream(TEXT)), 1000, out)
      expect(decoder.finished).toBe(true)
      const before = out.length
      decoder.push('{"x":1}', undefined, out)
      decoder.end(out)
      expect(out).toHaveLength(before)
    })
    it('leak no key of the vendor into the events', () => {
      // Keys of items are private, and ids of the upstream's own items never become public ids.
      for (const event of stream(ANSWER)) {
        if (event.type !== 'item-start') continue
        expect(event.item).not.toHaveProperty('id')
        expect(event.key).not.toMatch(/vendor/)
      }
    })
  })
}
