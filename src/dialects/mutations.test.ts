import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isGatewayError, type GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import { Assembler } from '../doors/responses/assemble.ts'
import { createAwsEventStreamParser } from '../lib/aws-event-stream.ts'
import { createSseParser } from '../lib/sse.ts'
import { checkWire } from '../testing/check-wire.ts'
import { manualClock, sequentialIds } from '../testing/deterministic.ts'
import { ANSWER, REQUEST, subjectOf, TEXT } from '../testing/dialect-contract/subject.ts'
import { checkEventBalance, foldEvents } from '../testing/event-balance.ts'
import { VENDOR_VOICES } from '../testing/vendor-voices.ts'
import { dialects } from './index.ts'

/**
 * Answers of every format whose events are lost, doubled, moved or damaged, through the decoder and what writes the public answer: the caller
 * gets a stream that keeps all rules, and the same as one object, or an error in the gateway's words.
 */

// The same cases in every run: a failure must not depend on luck.
const params = (numRuns: number) => ({ numRuns, seed: 20_260_301 }) as const

type Frame = readonly [data: string, event: string | undefined]
type Path = readonly (string | number)[]
type Parent = Record<string | number, unknown>

const ODD: readonly unknown[] = [null, '', 'x', '7', 0, -1, 1.5, 1e308, true, [], {}, [null], { text: 'x' }, [{ type: 'text', text: 'x' }], '\ud83d']

/** Every place inside a value. */
function places(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const keys: readonly (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  return keys.flatMap((key) => [[...at, key], ...places((value as Parent)[key], [...at, key])])
}

/** The frame with one of its places changed; as it is when it holds none. */
function changed([data, event]: Frame, where: number, change: (parent: Parent, key: string | number) => void): Frame {
  const value = parsed(data)
  const all = places(value)
  if (all.length === 0) return [data, event]
  const path = all[where % all.length]!
  const parent = path.slice(0, -1).reduce<unknown>((inner, key) => (inner as Parent)[key], value) as Parent
  change(parent, path.at(-1)!)
  return [JSON.stringify(value), event]
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

/** What a value and its parts say they are. */
const typesIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => (key === 'type' && typeof inner === 'string' ? [inner] : typesIn(inner)))

/** The frame, the nth of these words being another. */
function reworded([data, event]: Frame, nth: number, word: string): Frame {
  let left = nth
  const put = (key: string, value: unknown): unknown => (key === 'type' && typeof value === 'string' && left-- === 0 ? word : value)
  return [JSON.stringify(parsed(data), put), event]
}

function remove(parent: Parent, key: string | number): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else delete parent[key]
}

const swap = (frames: Frame[], a: number, b: number): void => {
  const first = frames[a]!
  frames[a] = frames[b]!
  frames[b] = first
}

type Damage = (frames: Frame[], at: number, where: number) => void
const DAMAGES: { readonly [name: string]: Damage } = {
  drop: (frames, at) => void frames.splice(at, 1),
  double: (frames, at) => void frames.splice(at, 0, frames[at]!),
  swap: (frames, at) => swap(frames, at, (at + 1) % frames.length),
  move: (frames, at, where) => void frames.splice(where % frames.length, 0, ...frames.splice(at, 1)),
  end: (frames, at) => void (frames.length = at),
  again: (frames, at) => void frames.push(...frames.slice(at)),
  rename: (frames, at) => void (frames[at] = [frames[at]![0], 'other']),
  garble: (frames, at, where) => void (frames[at] = [frames[at]![0].slice(0, where % (frames[at]![0].length + 1)), frames[at]![1]]),
  insert: (frames, at, where) => void frames.splice(at, 0, [JSON.stringify(ODD[where % ODD.length]), frames[at]![1]]),
  remove: (frames, at, where) => void (frames[at] = changed(frames[at]!, where, remove)),
  odd: (frames, at, where) =>
    void (frames[at] = changed(frames[at]!, Math.floor(where / ODD.length), (parent, key) => (parent[key] = ODD[where % ODD.length]))),
  // The same place in all frames: ids that repeat, indexes that are missing, counts that are texts.
  everywhere(frames, at, where) {
    const value = ODD[where % ODD.length]
    const name = places(parsed(frames[at]![0]))
      .at(Math.floor(where / ODD.length) % 8)
      ?.at(-1)
    frames.forEach(([data, event], n) => {
      const all = parsed(data)
      for (const path of places(all)) {
        const parent = path.slice(0, -1).reduce<unknown>((inner, key) => (inner as Parent | undefined)?.[key], all) as Parent | null | undefined
        if (path.at(-1) === name && typeof parent === 'object' && parent !== null) parent[name!] = value
      }
      if (all !== undefined) frames[n] = [JSON.stringify(all), event]
    })
  },
}

const damages = fc.array(fc.tuple(fc.constantFrom(...Object.keys(DAMAGES)), fc.nat(999), fc.nat(9_999)), { minLength: 1, maxLength: 4 })

describe.each([...VENDOR_VOICES.values()].map((voice) => [voice.dialect, voice] as const))('answers in %s', (name, voice) => {
  const { dialect, target } = subjectOf(dialects.get(name)!, voice)

  function framesOf(answer: typeof ANSWER): Frame[] {
    const frames: Frame[] = []
    const parser = (dialect.framing === 'sse' ? createSseParser : createAwsEventStreamParser)((data, event) => void frames.push([data, event]))
    parser.push(Buffer.concat(voice.stream(answer)))
    parser.end()
    return frames
  }

  /** `whole`: the only frame is an answer in one piece. */
  function decode(frames: readonly Frame[], whole = false): { readonly events: readonly ModelEvent[]; readonly error?: GatewayError } {
    const events: ModelEvent[] = []
    const decoder = dialect.decoder(REQUEST, target)
    try {
      if (whole) decoder.body(frames[0]?.[0] ?? '', events)
      else for (const [data, event] of frames) if (!decoder.finished) decoder.push(data, event, events)
      if (!decoder.finished) decoder.end(events)
    } catch (error) {
      if (!isGatewayError(error)) throw error
      return { events, error }
    }
    return { events }
  }

  function assembled({ events, error }: ReturnType<typeof decode>, stream: boolean): Assembler {
    const clock = manualClock()
    const facts = (): { model: string } => ({ model: 'acme/small' })
    const assembler = new Assembler({ id: 'gen-1', request: REQUEST, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts })
    assembler.push(events)
    if (error === undefined) assembler.finish()
    else assembler.fail(error)
    return assembler
  }

  /** What was decoded makes a valid stream, and one object that says the same; or it failed, and the failure is told. */
  function check(decoded: ReturnType<typeof decode>): void {
    if (decoded.error === undefined) checkEventBalance(decoded.events)
    else expect(decoded.error.details.source).toBe('provider')
    const { terminal } = checkWire(assembled(decoded, true).takeWire())
    expect(terminal.type === 'response.failed').toBe(decoded.error !== undefined)
    expect(JSON.parse(assembled(decoded, false).answer())).toEqual(terminal['response'])
  }

  it.each([
    ['streamed', false, 150],
    ['in one piece', true, 100],
  ])('%s and damaged in any way are a valid stream, the same in one object, or an error', (_name, whole, runs) => {
    fc.assert(
      fc.property(fc.constantFrom(ANSWER, TEXT), damages, (answer, made) => {
        const frames: Frame[] = whole ? [[voice.json(answer), undefined]] : framesOf(answer)
        for (const [damage, at, where] of made) if (frames.length > 0) DAMAGES[damage]!(frames, at % frames.length, where)
        check(decode(frames, whole))
      }),
      params(runs),
    )
  })

  it.each([
    ['streamed', false],
    ['in one piece', true],
  ])('%s and with any type name replaced by another are, too', (_name, whole) => {
    const frames: Frame[] = whole ? [[voice.json(ANSWER), undefined]] : framesOf(ANSWER)
    const words = new Set(frames.flatMap(([data]) => typesIn(parsed(data))))
    for (const [at, frame] of frames.entries()) {
      const count = typesIn(parsed(frame[0])).length
      for (let nth = 0; nth < count; nth++) for (const word of words) check(decode(frames.with(at, reworded(frame, nth, word)), whole))
    }
  })

  it('cut between events are complete or an error, never shorter', () => {
    for (const answer of [ANSWER, TEXT]) {
      const frames = framesOf(answer)
      const whole = foldEvents(decode(frames).events)
      for (let length = 0; length < frames.length; length++) {
        const { events, error } = decode(frames.slice(0, length))
        if (error === undefined) expect(foldEvents(events)).toEqual(whole)
      }
    }
  })

  it('with unknown members and events, and members in another order, give the same', () => {
    const backwards = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(backwards)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, inner]) => [key, backwards(inner)]),
      )
    }
    const strange = fc.constantFrom<unknown>(null, 1, 'x', [], {}, { text: 'no' })
    fc.assert(
      fc.property(fc.constantFrom(ANSWER, TEXT), fc.nat(99), strange, fc.boolean(), (answer, at, value, turned) => {
        const plain = framesOf(answer)
        const frames = plain.map(([data, event]): Frame => {
          const object = parsed(data)
          if (typeof object !== 'object' || object === null) return [data, event]
          const more = { x_later: value, ...object, y_later: value }
          return [JSON.stringify(turned ? backwards(more) : more), event]
        })
        frames.splice(at % frames.length, 0, [JSON.stringify({ type: 'later.event', x_later: value }), 'later.event'])
        const { events, error } = decode(frames)
        expect(error).toBeUndefined()
        expect(foldEvents(events)).toEqual(foldEvents(decode(plain).events))
        expect(events.at(-1)).toEqual(decode(plain).events.at(-1))
      }),
      params(60),
    )
  })
})
