import { describe, expect, it } from 'vitest'
import type { DeliveryRecord } from '../../core/delivery.ts'
import { toDeliveryRecord } from '../../delivery/record.ts'
import { CANARY, fullGeneration } from '../../testing/sample-generations.ts'
import { openInferenceAttributes, openInferenceChild, openInferenceWrapper } from './open-inference.ts'
import { createAttributes, type AttributeSet } from './attributes.ts'

const { generation, content } = fullGeneration()
const record = (privacyMode: boolean): DeliveryRecord =>
  toDeliveryRecord(generation, content, { privacyMode, broadcast: { cost: true, identity: false, requestContext: false } })
const flat = (set: AttributeSet): Record<string, unknown> => Object.fromEntries(set.list().map(({ key, value }) => [key, value]))

describe('OpenInference', () => {
  it('describes a model call with flattened messages', () => {
    expect(flat(openInferenceAttributes(record(false)))).toMatchObject({
      'openinference.span.kind': 'LLM',
      'llm.provider': 'beta',
      'llm.system': 'acme',
      'llm.token_count.prompt': 1200,
      'llm.token_count.completion_details.reasoning': 200,
      'llm.cost.total': 0.0123,
      'llm.input_messages.0.message.role': 'system',
      'llm.input_messages.1.message.contents.0.message_content.type': 'text',
      'llm.input_messages.1.message.contents.2.message_content.image.image.url': 'https://example.com/cat.png',
      'llm.input_messages.2.message.tool_calls.0.tool_call.function.name': 'look',
      'llm.input_messages.3.message.tool_call_id': 'call_1',
      'llm.output_messages.0.message.content': `A cat. ${CANARY}`,
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'call_2',
      'metadata.team': 'search',
      'metadata.attempt': 2,
      'tag.tags': ['blue', 'beta'],
    })
  })

  it('shows reasoning as the first content of its message, beside the text', () => {
    const attributes = flat(openInferenceAttributes(record(false)))
    expect(attributes).toMatchObject({
      'llm.output_messages.0.message.contents.0.message_content.type': 'reasoning',
      'llm.output_messages.0.message.contents.0.message_content.text': `Thinking about ${CANARY}`,
      'llm.output_messages.0.message.content': `A cat. ${CANARY}`,
    })
    expect(Object.keys(attributes).filter((key) => /output_messages\.0\.message\.contents\.1\./.test(key))).toEqual([])
    const thought = [
      { type: 'reasoning' as const, summary: [{ type: 'summary_text' as const, text: 'Hmm' }] },
      { type: 'message' as const, role: 'assistant' as const, content: ['a', 'b'].map((text) => ({ type: 'output_text' as const, text })) },
    ]
    const before = toDeliveryRecord(
      generation,
      { input: thought, output: [] },
      { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    const given = flat(openInferenceAttributes(before))
    const texts = [0, 1, 2].map((i) => given[`llm.input_messages.0.message.contents.${i}.message_content.text`])
    expect(texts).toEqual(['Hmm', 'a', 'b'])
  })

  it('shows a refusal in place of the answer', () => {
    const output = [{ type: 'message' as const, role: 'assistant' as const, content: [{ type: 'refusal' as const, refusal: 'No.' }] }]
    const refused = toDeliveryRecord(
      generation,
      { input: [], output },
      { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    expect(flat(openInferenceAttributes(refused))).toMatchObject({
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'No.',
    })
  })

  it('shows a refusal after the text that came before it', () => {
    const parts = [
      { type: 'output_text' as const, text: 'First,' },
      { type: 'refusal' as const, refusal: 'no.' },
    ]
    const output = [{ type: 'message' as const, role: 'assistant' as const, content: parts }]
    const refused = toDeliveryRecord(
      generation,
      { input: [], output },
      { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } },
    )
    expect(flat(openInferenceAttributes(refused))).toMatchObject({ 'llm.output_messages.0.message.content': 'First,\nno.' })
  })

  it('contains no text of prompt or answer in privacy mode', () => {
    const set = openInferenceAttributes(record(true))
    expect(JSON.stringify(set.list())).not.toContain(CANARY)
    expect(set.list().some(({ key }) => /messages|\.value|tools/.test(key))).toBe(false)
  })

  it('names the kinds of the other spans', () => {
    const { 'input.value': input, 'output.value': answer } = flat(openInferenceAttributes(record(false)))
    expect(flat(openInferenceWrapper(record(false)))).toMatchObject({
      'openinference.span.kind': 'CHAIN',
      'session.id': 'session-9',
      'input.value': input,
      'input.mime_type': 'application/json',
      'output.value': answer,
      'output.mime_type': 'application/json',
    })
    expect(JSON.stringify(openInferenceWrapper(record(true)).list())).not.toContain(CANARY)
    const tool = record(false).children.find((child) => child.kind === 'tool')
    const set = createAttributes()
    if (tool) openInferenceChild(tool, set)
    expect(flat(set)).toMatchObject({ 'openinference.span.kind': 'TOOL', 'tool.name': 'datetime', 'input.value': expect.stringContaining('zone') })
  })
})
