import { describe, expect, it } from 'vitest'
import type { InputItem, JsonObject } from '../../core/item.ts'
import { listedTools, replay } from './history.ts'

const user: InputItem = { type: 'message', role: 'user', content: 'go' }
const said: InputItem = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }
const request = (id = 'mcpr_1', name = 'add'): InputItem => ({ type: 'mcp_approval_request', id, server_label: 'math', name, arguments: '{"a":1}' })
const response = (approve: boolean, id = 'mcpr_1', more = {}): InputItem => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve,
  ...more,
})
const call = (more: JsonObject = {}): InputItem => ({
  type: 'mcp_call',
  id: 'mcp_1',
  server_label: 'math',
  name: 'add',
  arguments: '{"a":1}',
  output: '3',
  ...more,
})
const offered = ({ name }: JsonObject): string | undefined => (name === 'add' || name === 'sub' ? `math__${name}` : undefined)
const called = (id: string, name = 'math__add') => ({ type: 'function_call', call_id: id, name, arguments: '{"a":1}' })
const gave = (id: string, output: unknown) => ({ type: 'function_call_output', call_id: id, output })

describe('calls of an earlier answer', () => {
  it('become function calls and results; tool lists are not sent to a model', () => {
    const list: InputItem = { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'math', tools: [] }
    expect(replay([user, list, call(), said], offered)).toEqual({ input: [user, called('mcp_1'), gave('mcp_1', '3'), said], due: [] })
  })

  it('have a name also where an item of the gateway’s type names neither server nor tool', () => {
    const names = [{}, { serverLabel: 'math' }, { toolName: 'add' }, { serverLabel: null, toolName: '' }].map((fields) => {
      const [first] = replay([{ type: 'gateway:mcp', id: 'mcp_1', ...fields }], () => undefined).input
      return (first as JsonObject)['name']
    })
    expect(names).toEqual(['mcp__tool', 'math__tool', 'mcp__add', 'mcp__tool'])
  })

  it('keep their name when the tool is no longer offered, and contain their error', () => {
    const gone = call({ name: 'gone', output: null, error: 'the disk is full' })
    expect(replay([gone], offered).input).toEqual([called('mcp_1', 'math__gone'), gave('mcp_1', '{"status":"error","error":"the disk is full"}')])
    const vendors = call({ output: null, error: { type: 'mcp_protocol_error', code: 1, message: 'x' } })
    expect(replay([vendors], offered).input[1]).toEqual(
      gave('mcp_1', '{"status":"error","error":"{\\"type\\":\\"mcp_protocol_error\\",\\"code\\":1,\\"message\\":\\"x\\"}"}'),
    )
  })

  it.each(['in_progress', 'calling', 'incomplete', 'failed'])(
    'without a result, because they are %s, do not pass for calls that gave nothing',
    (status) => {
      const told = gave('mcp_1', '{"status":"error","error":"This call has no result: it failed, or was not finished."}')
      expect(replay([call({ status, output: null, error: null })], offered).input[1]).toEqual(told)
      const own: InputItem = { type: 'gateway:mcp', id: 'mcp_1', status, serverLabel: 'math', toolName: 'add' }
      expect(replay([own], offered).input[1]).toEqual(told)
      expect(replay([call({ status })], offered).input[1]).toEqual(gave('mcp_1', '3'))
    },
  )

  it('that gave nothing have an empty result', () => {
    for (const status of ['completed', undefined, null]) expect(replay([call({ status, output: '' })], offered).input[1]).toEqual(gave('mcp_1', ''))
  })

  it('are read in the spelling of the gateway, too, and get an id when they lost it', () => {
    const own: InputItem = { type: 'gateway:mcp', status: 'completed', serverLabel: 'math', toolName: 'add', arguments: '{"a":1}', output: '3' }
    expect(replay([user, own], offered).input.slice(1)).toEqual([called('call_history_1'), gave('call_history_1', '3')])
  })
})

describe('an approval', () => {
  it('makes the call pending', () => {
    expect(replay([user, request(), response(true)], offered)).toEqual({
      input: [user, called('mcpr_1'), gave('mcpr_1', '')],
      due: [{ functionName: 'math__add', callId: 'mcpr_1', arguments: '{"a":1}', grant: 'mcpr_1' }],
    })
  })

  it('is of one call among several', () => {
    const { input, due } = replay([user, request(), request('mcpr_2', 'sub'), response(true, 'mcpr_2'), response(false)], offered)
    expect(due.map(({ callId }) => callId)).toEqual(['mcpr_2'])
    expect(input.slice(1, 4)).toEqual([called('mcpr_1'), called('mcpr_2', 'math__sub'), gave('mcpr_2', '')])
    expect(input[4]).toMatchObject(gave('mcpr_1', expect.stringContaining('did not approve')))
  })

  it('that is denied gives the model the reason', () => {
    const { input, due } = replay([user, request(), response(false, 'mcpr_1', { reason: 'too dear' })], offered)
    expect(due).toEqual([])
    expect(input.at(-1)).toMatchObject(gave('mcpr_1', expect.stringContaining('Reason: too dear')))
  })

  it('never runs a call twice: not when it has run', () => {
    const { input, due } = replay([user, request(), response(true), call({ approval_request_id: 'mcpr_1' }), said, user], offered)
    expect(due).toEqual([])
    expect(input).toEqual([user, called('mcp_1'), gave('mcp_1', '3'), said, user])
  })

  it('never runs a call twice: not when a client has lost the link between the two', () => {
    for (const later of [said, call(), { type: 'reasoning', summary: [] } as InputItem]) {
      expect(replay([user, request(), response(true), later, user], offered).due).toEqual([])
    }
  })

  it('given twice counts once', () => {
    expect(replay([request(), response(true), response(true)], offered).due).toHaveLength(1)
    expect(replay([request(), response(false), response(true)], offered).due).toHaveLength(0)
  })

  it('still counts when the caller has said something else as well', () => {
    expect(replay([user, request(), response(true), user], offered).due).toHaveLength(1)
  })

  it('of a tool that is no longer offered runs nothing', () => {
    const { input, due } = replay([request('mcpr_1', 'gone'), response(true)], offered)
    expect(due).toEqual([])
    expect(input.at(-1)).toMatchObject(gave('mcpr_1', expect.stringContaining('not available any more')))
  })

  it('of an unknown request is refused with its path', () => {
    expect(() => replay([user, response(true)], offered)).toThrow('input[1].approval_request_id names no mcp_approval_request')
  })

  describe('that comes after the model has gone on', () => {
    const notYet = expect.stringContaining('not approved this call (yet)')

    it('makes a call where it was given, and what the model was told until then stays', () => {
      const { input, due } = replay([user, request(), user, said, response(true)], offered)
      expect(input).toEqual([user, called('mcpr_1'), gave('mcpr_1', notYet), user, said, called('mcpr_1_late'), gave('mcpr_1_late', '')])
      expect(due).toMatchObject([{ callId: 'mcpr_1_late', grant: 'mcpr_1' }])
    })

    it('is of the second call when the first was approved and made before', () => {
      const made = call({ approval_request_id: 'mcpr_1' })
      const later = [user, request(), request('mcpr_2', 'sub'), response(true), made, said, response(true, 'mcpr_2')]
      const { input, due } = replay(later, offered)
      expect(due).toMatchObject([{ functionName: 'math__sub', callId: 'mcpr_2_late' }])
      expect(input.slice(1, 3)).toEqual([called('mcpr_2', 'math__sub'), gave('mcpr_2', notYet)])
      expect(input.slice(-3)).toEqual([said, called('mcpr_2_late', 'math__sub'), gave('mcpr_2_late', '')])
    })

    it('and denies the call is told where it was given', () => {
      const { input, due } = replay([user, request(), user, request('mcpr_2', 'sub'), response(false)], offered)
      expect(due).toEqual([])
      expect(input.slice(-2)).toEqual([called('mcpr_1_late'), gave('mcpr_1_late', expect.stringContaining('did not approve'))])
    })

    it('leaves the call where it was made', () => {
      const made = call({ approval_request_id: 'mcpr_1' })
      const { input, due } = replay([user, request(), user, said, response(true), made, said, user], offered)
      expect(due).toEqual([])
      expect(input).toEqual([user, called('mcpr_1'), gave('mcpr_1', notYet), user, said, called('mcp_1'), gave('mcp_1', '3'), said, user])
    })

    it('is none if only calls of the same turn stand between', () => {
      const { due } = replay([user, request(), call(), request('mcpr_2', 'sub'), response(true), response(true, 'mcpr_2')], offered)
      expect(due.map(({ callId }) => callId)).toEqual(['mcpr_1', 'mcpr_2'])
    })
  })

  it('that never came leaves a call without execution', () => {
    expect(replay([user, request(), user], offered).input[2]).toMatchObject(gave('mcpr_1', expect.stringContaining('not approved this call')))
  })
})

describe('a list of an earlier answer', () => {
  const list = (tools: unknown[], more = {}): InputItem => ({ type: 'mcp_list_tools', id: 'l', server_label: 'math', tools, ...more })

  it('is used again, the latest of its server', () => {
    const tools = listedTools(
      [
        list([{ name: 'old', input_schema: {} }]),
        list([{ name: 'add', description: 'Adds.', input_schema: { type: 'object' }, annotations: { readOnlyHint: true } }]),
      ],
      'math',
    )
    expect(tools).toEqual([{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }])
  })

  it('of another server, or one that failed, is not', () => {
    expect(listedTools([list([])], 'other')).toBeUndefined()
    expect(listedTools([list([], { error: 'refused' })], 'math')).toBeUndefined()
  })
})
