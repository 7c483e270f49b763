import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem, OutputItem } from '../../core/item.ts'
import { openReasoning, sealReasoning } from '../../core/reasoning-envelope.ts'
import { answers } from '../../testing/arbitrary-answers.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { ContentWriter } from './content-writer.ts'
import { toItems, type Part } from './history.ts'

type Json = { readonly [field: string]: unknown }
interface Told extends Json {
  readonly candidates?: readonly [Json & { readonly content: { readonly parts: readonly Part[] } }]
}

function assemble(stream: boolean, events: readonly ModelEvent[], finish: (subject: Assembler) => void = (subject) => subject.finish()): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const options: AssemblerOptions = { id: 'gen-1', request: { input: [] }, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts }
  const subject = new Assembler(options, new ContentWriter(options, { thoughts: true }))
  subject.push(events)
  finish(subject)
  return subject
}

const parse = (wire: string): readonly Told[] =>
  wire
    .split('\n\n')
    .slice(0, -1)
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as Told)

const partsOf = (chunks: readonly Told[]): readonly Part[] => chunks.flatMap(({ candidates }) => candidates?.[0].content.parts ?? [])

/** How a reader joins the parts of a stream: neighbouring texts of one kind become one, with the seal of the first. */
function joined(parts: readonly Part[]): readonly Part[] {
  const list: Part[] = []
  for (const part of parts) {
    const last = list.at(-1)
    const continues = last?.text != null && part.text != null && last.thought === part.thought && part.thoughtSignature == null
    if (continues) list[list.length - 1] = { ...last, text: last.text + part.text }
    else list.push(part)
  }
  return list.filter((part) => part.text !== '' || part.thoughtSignature != null)
}

const RUNS = { numRuns: 300, interruptAfterTimeLimit: 2_000 }

describe('any answer', () => {
  it('is the same as a stream and as JSON', () => {
    fc.assert(
      fc.property(answers, (events) => {
        const wire = assemble(true, events).takeWire()
        const json = assemble(false, events).answer()
        expect(wire + json).not.toMatch(/\\ud[89a-f]/i)
        const chunks = parse(wire)
        const whole = JSON.parse(json) as Told
        expect(joined(partsOf(chunks))).toEqual(joined(partsOf([whole])))
        const { content: _stream, ...last } = chunks.at(-1)!.candidates![0]
        const { content: _json, ...all } = whole.candidates![0]
        expect(last).toEqual(all)
        expect(chunks.at(-1)!['usageMetadata']).toEqual(whole['usageMetadata'])
      }),
      RUNS,
    )
  })

  it('has a part in every chunk, and a finish reason only in the last', () => {
    fc.assert(
      fc.property(answers, (events) => {
        const chunks = parse(assemble(true, events).takeWire())
        for (const { candidates } of chunks) {
          expect(candidates![0].content.parts).toHaveLength(1)
          expect(Object.keys(candidates![0].content.parts[0]!)).not.toEqual([])
        }
        expect(chunks.map(({ candidates }) => candidates![0]['finishReason'] !== undefined)).toEqual(chunks.map((_, at) => at === chunks.length - 1))
      }),
      RUNS,
    )
  })

  it('that breaks ends with an error', () => {
    fc.assert(
      fc.property(answers, fc.nat(20), (events, cut) => {
        const subject = assemble(true, events.slice(0, Math.min(cut, events.length - 1)), (broken) =>
          broken.fail(new GatewayError('timeout', 'Too slow')),
        )
        expect(parse(subject.takeWire()).at(-1)).toMatchObject({ error: { status: 'DEADLINE_EXCEEDED', message: 'Too slow' } })
      }),
      RUNS,
    )
  })

  it.each([
    ['with all that was told', (parts: readonly Part[]) => parts],
    ['without the thoughts, which many clients do not keep', (parts: readonly Part[]) => parts.filter(({ thought }) => thought !== true)],
    ['with its texts joined', joined],
  ])('is sent back with its reasoning in place, each with its signature: %s', (_name, kept) => {
    fc.assert(
      fc.property(answers, (events) => {
        const subject = assemble(true, events.map(inEnvelopes))
        const back = toItems([{ role: 'model', parts: kept(partsOf(parse(subject.takeWire()))) }])
        expect(gistOf(back)).toEqual(gistOf(subject.output()))
      }),
      RUNS,
    )
  })
})

/** Seals as they are outside of tests: only an envelope contains its place. */
function inEnvelopes(event: ModelEvent, at: number): ModelEvent {
  const item = event.type === 'item-end' ? event.item : undefined
  if (item?.['encrypted_content'] === undefined) return event
  return { ...event, item: { ...item, encrypted_content: sealReasoning({ format: 'acme-v1', scope: 's', data: `secret ${at}` }) } } as ModelEvent
}

/** What this format can express of an answer: refusals are text, cut calls are left out, and thoughts are identified by their seals. */
function gistOf(items: readonly (OutputItem | InputItem)[]): readonly string[] {
  const gists: string[] = []
  let said = ''
  const pause = (): void => {
    if (said !== '') gists.push(`says ${said}`)
    said = ''
  }
  for (const item of items as readonly Json[]) {
    if (item['type'] === 'message')
      for (const part of item['content'] as readonly Json[]) said += String(part['text'] ?? part['refusal']).replaceAll('\n', '')
    else if (item['type'] === 'reasoning' && item['encrypted_content'] != null) {
      pause()
      gists.push(`thinks ${openReasoning(item['encrypted_content'] as string)!.data}`)
    } else if (item['type'] === 'function_call' && item['status'] !== 'incomplete') {
      pause()
      gists.push(`calls ${JSON.stringify(JSON.parse((item['arguments'] as string) || '{}'))}`)
    }
  }
  pause()
  return gists
}
