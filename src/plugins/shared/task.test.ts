import { describe, expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { classifyTask } from './task.ts'

const says = (content: unknown): InputItem => ({ type: 'message', role: 'user', content })
const task = (text: string, more: Partial<ModelRequest> = {}, tokens = 100) => classifyTask({ input: [says(text)], ...more }, tokens)
const tools = (count: number) => Array.from({ length: count }, (_, n) => ({ type: 'function', name: `f${n}` }))

describe('what kind of work a request is', () => {
  it.each([
    ['Hello there, how are you?', 'conversation'],
    ['Fix the TypeError exception in this function', 'code:debugging'],
    ['```ts\nconst a = 1\n```\nWhat is this?', 'code:generation'],
    ['Review this python class, please', 'code:review'],
    ['Prove that the integral converges', 'math'],
    ['Translate this into French: good morning', 'translation'],
    ['Übersetze das bitte', 'translation'],
    ['Summarize the following article', 'summary'],
    ['Write a short email to my landlord', 'writing'],
    ['Extract all names', 'extraction'],
  ])('%j: %s', (text, type) => {
    expect(task(text).type).toBe(type)
  })

  it('follows from its attachments and tools', () => {
    const picture = [
      { type: 'input_text', text: 'what is this?' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ]
    expect(classifyTask({ input: [says(picture)] }, 100).type).toBe('vision')
    expect(classifyTask({ input: [says([{ type: 'input_file', file_url: 'https://example.com/a.pdf' }])] }, 100).type).toBe('document')
    expect(task('hi', { tools: tools(1) }).type).toBe('agent:tools')
    expect(task('hi', { tools: tools(9) }).type).toBe('agent:multi_step')
    expect(task('x', { text: { format: { type: 'json_schema', name: 'a', schema: {} } } }).type).toBe('extraction')
  })
})

describe('how hard it is', () => {
  it('is the number of difficult properties', () => {
    expect(task('Hello').difficulty).toBe(0)
    expect(task('Compare and contrast these two').difficulty).toBe(1)
    expect(task('Prove it step by step').difficulty).toBe(2)
    expect(task('Hello', { reasoning: { effort: 'high' } })).toMatchObject({ difficulty: 1, signals: ['reasoning_wanted'] })
    expect(task('Hello', {}, 50_000)).toMatchObject({ difficulty: 1, signals: ['long_input'] })
    const working: ModelRequest = { tools: tools(1), input: [says('go'), { type: 'function_call_output', call_id: 'c', output: 'x' }] }
    expect(classifyTask(working, 100)).toMatchObject({ type: 'agent:multi_step', difficulty: 1 })
  })

  it('recognises other scripts', () => {
    expect(task('今日はとても天気がいいですね').signals).toContain('language:not_latin')
    expect(task('naïve café').signals).toEqual([])
  })

  it('reads the last question and no more than a part of it', () => {
    const request: ModelRequest = { input: [says('prove this theorem'), { type: 'message', role: 'assistant', content: 'done' }, says('thanks!')] }
    expect(classifyTask(request, 100).type).toBe('conversation')
    expect(task(`${'hello '.repeat(400_000)} prove`).type).toBe('conversation')
  })
})
