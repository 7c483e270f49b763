import { describe, expect, it } from 'vitest'
import { bodyOf, callOutput, EMPTY, historyOf, itemsOf, openCalls, parseBody, userMessage, type Turn } from './body.ts'
import { startRun, type Item, type Run } from './run.ts'

const settings = { ...EMPTY, model: 'demo/echo' }
const message = (text: string, status = 'completed'): Item => ({
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text }],
})
const turn = (question: string, items: readonly Item[], run: Partial<Run> = {}): Turn => ({
  id: 1,
  input: [userMessage(question)],
  isWhole: false,
  body: {},
  run: { ...startRun(0), phase: 'completed', items, ...run },
})

describe('the body of a request', () => {
  it('has what was filled in, and nothing else', () => {
    expect(bodyOf(settings, [userMessage('hi')])).toEqual({ body: { model: 'demo/echo', input: 'hi', stream: true }, problems: {} })
    expect(bodyOf({ ...settings, stream: false }, [userMessage('hi')]).body).toEqual({ model: 'demo/echo', input: 'hi' })
  })

  it('has every setting in its member', () => {
    const all = {
      ...settings,
      instructions: 'Be brief.',
      temperature: '0',
      maxOutputTokens: '64',
      effort: 'low',
      models: ['demo/reason'],
      provider: '{"ignore": ["acme"]}',
      tools: '[{"type": "gateway:datetime"}]',
    }
    expect(bodyOf(all, []).body).toEqual({
      model: 'demo/echo',
      models: ['demo/reason'],
      instructions: 'Be brief.',
      input: [],
      temperature: 0,
      max_output_tokens: 64,
      reasoning: { effort: 'low' },
      provider: { ignore: ['acme'] },
      tools: [{ type: 'gateway:datetime' }],
      stream: true,
    })
  })

  it('is not made while a field is invalid: each field says what is wrong with it', () => {
    const { problems } = bodyOf({ ...settings, model: ' ', temperature: 'warm', provider: '{', tools: '{}' }, [])
    expect(Object.keys(problems).sort()).toEqual(['model', 'provider', 'temperature', 'tools'])
    expect(problems.provider).toContain('not JSON')
    expect(problems.tools).toContain('Enter a list')
  })
})

describe('the conversation that is sent again', () => {
  it('is every question and every item of every answer', () => {
    const turns = [turn('one', [{ type: 'reasoning', id: 'rs_1' }, message('1')]), turn('two', [message('2')])]
    expect(historyOf(turns)).toEqual([userMessage('one'), { type: 'reasoning', id: 'rs_1' }, message('1'), userMessage('two'), message('2')])
  })

  it('leaves out refused turns with their questions, and incomplete items other than messages', () => {
    const refused = turn('no', [], { phase: 'refused' })
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a', status: 'in_progress' }
    const stopped = turn('half', [message('hal', 'in_progress'), call, { type: 'message', status: 'in_progress', content: [] }], { phase: 'stopped' })
    expect(historyOf([refused, stopped])).toEqual([userMessage('half'), message('hal', 'incomplete')])
    expect(openCalls([stopped])).toEqual([])
  })

  it('starts over at a body that was written as JSON, because that holds the whole conversation', () => {
    const own: Turn = { ...turn('', [message('2')]), isWhole: true, input: itemsOf({ input: [{ role: 'user', content: 'mine' }] }) }
    expect(historyOf([turn('one', [message('1')]), own])).toEqual([{ type: 'message', role: 'user', content: 'mine' }, message('2')])
  })

  it('continues with the results of the calls in the last answer', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}', status: 'completed' }
    expect(openCalls([turn('hi', [call, { type: 'gateway:datetime', id: 'st_1' }])])).toEqual([
      { callId: 'c1', name: 'weather', type: 'function_call' },
    ])
    expect(openCalls([turn('hi', [call]), turn('then', [message('done')])])).toEqual([])
    expect(openCalls([turn('hi', [call]), turn('refused', [], { phase: 'refused' })])).toHaveLength(1)
    expect(callOutput('c1', '21', 'function_call')).toEqual({ type: 'function_call_output', call_id: 'c1', output: '21' })
  })
})

it('a body typed as JSON gives an object or an error message', () => {
  expect(parseBody('{"model": "m"}')).toEqual({ model: 'm' })
  expect(parseBody('[]')).toBeInstanceOf(SyntaxError)
  expect(parseBody('{')).toBeInstanceOf(SyntaxError)
  expect(itemsOf({ input: 'hi' })).toEqual([userMessage('hi')])
})
