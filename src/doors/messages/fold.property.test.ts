import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { InputItem, OutputItem } from '../../core/item.ts'
import { answers } from '../../testing/arbitrary-answers.ts'
import { manualClock, sequentialIds } from '../../testing/deterministic.ts'
import { Assembler } from '../responses/assemble.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import type { Block } from './block.ts'
import { toItems } from './history.ts'
import { MessagesWriter } from './messages-writer.ts'

type Json = { readonly [field: string]: unknown }

function assemble(stream: boolean, events: readonly ModelEvent[], finish: (subject: Assembler) => void = (subject) => subject.finish()): Assembler {
  const clock = manualClock()
  const facts = () => ({ model: 'acme/small' })
  const options: AssemblerOptions = { id: 'gen-1', request: { input: [] }, receivedAt: clock.now(), stream, clock, newId: sequentialIds(), facts }
  const subject = new Assembler(options, new MessagesWriter(options, { thinking: true }))
  subject.push(events)
  finish(subject)
  return subject
}

const parse = (wire: string): readonly Json[] =>
  wire
    .split('\n\n')
    .slice(0, -1)
    .map((event) => JSON.parse(event.replace(/^event: \w+\ndata: /, '')) as Json)

/** The value of complete JSON, or the text of a call that was cut off. */
function valueOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** How a reader assembles the events of a stream; throws if a block begins before the last has ended, or an event belongs to another block. */
function fold(events: readonly Json[]): Json {
  let message: { [field: string]: unknown } = {}
  let open: { block: { [field: string]: unknown }; index: unknown; json: string } | undefined
  const content: Json[] = []
  for (const event of events) {
    const { type, index, delta } = event as { readonly type: string; readonly index?: number; readonly delta?: { readonly [field: string]: never } }
    if (type === 'message_start') message = { ...(event['message'] as Json) }
    else if (type === 'content_block_start') {
      if (open !== undefined || index !== content.length) throw new Error(`block ${index} begins out of turn`)
      open = { block: { ...(event['content_block'] as Json) }, index, json: '' }
      content.push(open.block)
    } else if (type === 'content_block_delta' || type === 'content_block_stop') {
      if (open?.index !== index) throw new Error(`${type} of block ${index}, which is not open`)
      const { block } = open!
      if (type === 'content_block_stop') {
        if (open!.json !== '') block['input'] = valueOf(open!.json)
        open = undefined
      } else if (delta!['text'] !== undefined) block['text'] = `${String(block['text'])}${String(delta!['text'])}`
      else if (delta!['thinking'] !== undefined) block['thinking'] = `${String(block['thinking'])}${String(delta!['thinking'])}`
      else if (delta!['signature'] !== undefined) block['signature'] = delta!['signature']
      else if (delta!['citation'] !== undefined) block['citations'] = [...((block['citations'] as Json[] | null) ?? []), delta!['citation']]
      else open!.json += String(delta!['partial_json'])
    } else if (type === 'message_delta') Object.assign(message, delta, { usage: event['usage'] })
  }
  const failed = events.at(-1)?.['type'] === 'error'
  if (open !== undefined && !(failed && open.block['type'] === 'tool_use')) throw new Error('a block did not end')
  return { ...message, content }
}

const RUNS = { numRuns: 300, interruptAfterTimeLimit: 2_000 }

describe('any answer', () => {
  it('is the same message as a stream and as JSON', () => {
    fc.assert(
      fc.property(answers, (events) => {
        const wire = assemble(true, events).takeWire()
        const json = assemble(false, events).answer()
        expect(wire + json).not.toMatch(/\\ud[89a-f]/i)
        expect(fold(parse(wire))).toEqual(JSON.parse(json))
      }),
      RUNS,
    )
  })

  it('that breaks off has ended every block but a call that is incomplete', () => {
    fc.assert(
      fc.property(answers, fc.nat(20), (events, cut) => {
        const subject = assemble(true, events.slice(0, Math.min(cut, events.length - 1)), (broken) =>
          broken.fail(new GatewayError('timeout', 'Too slow')),
        )
        const told = parse(subject.takeWire())
        fold(told)
        expect(told.at(-1)).toMatchObject({ type: 'error', error: { type: 'timeout_error' } })
      }),
      RUNS,
    )
  })

  it('is sent back with its reasoning in place, each with its signature', () => {
    fc.assert(
      fc.property(answers, (events) => {
        const subject = assemble(false, events)
        const { content } = JSON.parse(subject.answer()) as { readonly content: readonly Block[] }
        const back = toItems([{ role: 'assistant', content }])
        expect(back.flatMap(gistOf)).toEqual(subject.output().flatMap(gistOf))
      }),
      RUNS,
    )
  })
})

/** What this format can express of an item: refusals are text, summaries are thoughts like others, and a seal with the signature is enough. */
function gistOf(of: OutputItem | InputItem): readonly unknown[] {
  const item = of as Json
  const said = (parts: unknown): readonly string[] =>
    ((parts ?? []) as readonly { readonly text?: string; readonly refusal?: string }[])
      .map((one) => one.text ?? one.refusal ?? '')
      .filter((text) => text !== '')
  switch (item['type']) {
    case 'message':
      return said(item['content']).map((text) => `says ${text}`)
    case 'reasoning': {
      const thoughts = [...said(item['content']), ...said(item['summary'])].join('').replaceAll('\n', '').split('').toSorted().join('')
      const kept = (item['encrypted_content'] ?? item['signature'] ?? '') as string
      return thoughts === '' && kept === '' ? [] : [`thinks ${thoughts} (${kept})`]
    }
    case 'function_call':
      return [`calls ${JSON.stringify(JSON.parse(item['arguments'] as string))}`]
    case 'web_search_call':
    // Histories use this name, whoever searched, so that models can read it.
    case 'gateway:web_search':
      return [item['action']]
    default:
      return []
  }
}

const CONTRACT = join(process.env['SIGNALBOX_FIXTURES'] ?? join(import.meta.dirname, '../../../../shared/fixtures'), '../contract/openapi.json')

describe.skipIf(!existsSync(CONTRACT))('the contract', () => {
  const validator = (name: string): ValidateFunction => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const { components } = JSON.parse(readFileSync(CONTRACT, 'utf8')) as { readonly components: object }
    ajv.addSchema({ $id: 'contract', components })
    return ajv.compile({ $ref: `contract#/components/schemas/${name}` })
  }
  const expectValid = (validate: ValidateFunction, value: unknown): void => {
    if (!validate(value)) throw new Error(`${JSON.stringify(validate.errors?.slice(0, 3))} in ${JSON.stringify(value)}`)
  }

  it('describes every event and every message', () => {
    const event = validator('MessagesStreamEvents')
    const message = validator('MessagesResult')
    fc.assert(
      fc.property(answers, (events) => {
        for (const told of parse(assemble(true, events).takeWire())) expectValid(event, told)
        expectValid(message, JSON.parse(assemble(false, events).answer()))
      }),
      { ...RUNS, numRuns: 100 },
    )
  })
})
