import { describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { stream, type Reply } from '../../src/testing/fake-upstream.ts'
import { MODEL, setStage, type Stage } from './stage.ts'
import { verifies } from '../requirements.ts'

/**
 * How Codex 0.169 works with models that it knows: its tools are in the input, in namespaces, and code goes through one free-form tool; or it finds the
 * tools of MCP servers with its own search. The bodies are shortened from observed requests.
 */
const BASE = {
  model: MODEL,
  stream: true,
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'low', context: 'all_turns' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a20ac3',
  text: { verbosity: 'low' },
  client_metadata: { 'x-codex-window-id': '01a20ac3:0' },
}
const EXEC = {
  type: 'custom',
  name: 'exec',
  description: 'Runs JavaScript',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /[\\s\\S]+/' },
}
const PROMPT = [
  {
    type: 'additional_tools',
    id: 'at_01a20ac3',
    role: 'developer',
    tools: [
      { type: 'namespace', name: 'functions', description: '', tools: [EXEC] },
      {
        type: 'namespace',
        name: 'clock',
        description: 'Time',
        tools: [{ type: 'function', name: 'sleep', description: 'Waits', strict: false, parameters: { type: 'object', properties: {} } }],
      },
    ],
  },
  { type: 'message', id: 'msg_01a20ac3', role: 'developer', content: [{ type: 'input_text', text: 'You are Codex' }] },
  { type: 'message', id: 'msg_01a20ac4', role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
]
const CODE = "text(await tools.exec_command({cmd:'ls'}))"

type Item = { readonly type: string; readonly [field: string]: unknown }

async function turn(stage: Stage, body: object): Promise<readonly Item[]> {
  const response = await stage.gateway().respond({ ...BASE, ...body }, { headers: { originator: 'codex_exec', 'session-id': 's', 'thread-id': 's' } })
  const { events, terminal } = checkWire(await response.text())
  expect(terminal.type).toBe('response.completed')
  return events.filter(({ type }) => type === 'response.output_item.done').map((event) => event['item'] as Item)
}

/** An upstream of the Responses format that answers with one item. */
function says(item: object): Reply {
  const resource = (status: string, output: readonly object[]): object => ({
    id: 'resp_1',
    object: 'response',
    model: 'small-1',
    status,
    output,
    usage: null,
  })
  return stream([
    { type: 'response.created', sequence_number: 0, response: resource('in_progress', []) },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
    { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item },
    { type: 'response.completed', sequence_number: 3, response: resource('completed', [item]) },
  ])
}

describe.each(['openai-chat', 'openai-responses'] as const)(
  verifies('S2-clients', 'P23', 'Codex with tools in its input in front of an upstream of %s'),
  (dialect) => {
    const stage = setStage(dialect)

    it('has its code run through a free-form tool in a namespace', async () => {
      stage.says(
        dialect === 'openai-chat'
          ? { calls: [{ id: 'call_1', name: 'functions__exec', arguments: [JSON.stringify({ input: CODE })] }] }
          : says({
              type: 'custom_tool_call',
              id: 'ctc_1',
              status: 'completed',
              call_id: 'call_1',
              name: 'exec',
              namespace: 'functions',
              input: CODE,
            }),
        { text: ['Done.'] },
      )
      const [call, ...more] = await turn(stage, { input: PROMPT })
      expect(more).toEqual([])
      expect(call).toMatchObject({ type: 'custom_tool_call', call_id: 'call_1', name: 'exec', namespace: 'functions', input: CODE })

      const output = ['Script completed', 'a.ts'].map((text) => ({ type: 'input_text', text }))
      const history = [...PROMPT, call, { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'call_1', output }]
      expect(await turn(stage, { input: history })).toMatchObject([{ type: 'message', content: [{ text: 'Done.' }] }])

      const [asked, again] = stage.heard().map(({ body }) => body)
      if (dialect === 'openai-chat') {
        expect(asked!['tools']).toMatchObject([{ function: { name: 'functions__exec' } }, { function: { name: 'clock__sleep' } }])
        expect((again!['messages'] as object[]).slice(-2)).toMatchObject([
          { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'functions__exec', arguments: JSON.stringify({ input: CODE }) } }] },
          { role: 'tool', tool_call_id: 'call_1', content: expect.stringMatching(/^Script completed\s+a\.ts$/) },
        ])
      } else {
        expect((asked!['input'] as object[])[0]).toMatchObject({ type: 'additional_tools', tools: PROMPT[0]!.tools })
        expect((again!['input'] as object[]).slice(-2)).toMatchObject([
          { type: 'custom_tool_call', call_id: 'call_1', name: 'exec', namespace: 'functions', input: CODE },
          { type: 'custom_tool_call_output', call_id: 'call_1', output },
        ])
      }
    })

    it('gives tasks to its agents, and gets their results', async () => {
      stage.says({ text: ['Three files.'] })
      const task = {
        type: 'agent_message',
        id: 'amsg_01a20adb',
        author: '/root',
        recipient: '/root/child',
        content: [
          { type: 'input_text', text: 'Message Type: NEW_TASK\nSender: /root\nPayload:\n' },
          { type: 'encrypted_content', encrypted_content: 'Count the files' },
        ],
      }
      await turn(stage, { input: [...PROMPT, task] })
      const { body } = stage.heard()[0]!
      if (dialect === 'openai-responses') expect((body['input'] as object[]).at(-1)).toMatchObject({ type: 'agent_message', content: task.content })
      else expect(JSON.stringify((body['messages'] as object[]).at(-1))).toMatch(/"role":"user".*NEW_TASK.*Count the files/)
    })
  },
)

describe(verifies('S2-clients', 'P23', 'Codex that finds tools by its own search, in front of an upstream of openai-responses'), () => {
  const stage = setStage('openai-responses')
  const search = { type: 'tool_search_call', status: 'completed', execution: 'client', call_id: 'call_1', arguments: { query: 'docs', limit: 2 } }
  const found = { type: 'tool_search_output', status: 'completed', execution: 'client', call_id: 'call_1' }
  const tools = [
    { type: 'namespace', name: 'mcp__docs', description: '', tools: [{ type: 'function', name: 'find', parameters: {}, defer_loading: true }] },
  ]

  it('sends search and result back without ids that only the gateway knows', async () => {
    const tool = { type: 'tool_search', execution: 'client', description: 'Finds tools', parameters: { type: 'object', properties: {} } }
    stage.says(says({ ...search, id: 'tsc_upstream' }), { text: ['Found.'] })
    const prompt = PROMPT.slice(1)
    const [call] = await turn(stage, { input: prompt, tools: [tool] })
    expect(call).toMatchObject({ ...search, id: expect.stringMatching(/^tsc_/) })

    await turn(stage, { input: [...prompt, call, { ...found, id: 'tso_1', tools }], tools: [tool] })
    const [asked, again] = stage.heard().map(({ body }) => body)
    expect(asked!['tools']).toEqual([tool])
    expect((again!['input'] as object[]).slice(-2)).toEqual([search, { ...found, tools }])
  })

  it('asks for a compaction of the conversation with an item of its own', async () => {
    stage.says(says({ type: 'compaction', id: 'cmp_upstream', encrypted_content: 'gAAAA-summary' }), { text: ['On.'] })
    const input = [...PROMPT.slice(1), { type: 'compaction_trigger' }]
    const [summary] = await turn(stage, { input })
    expect(summary).toMatchObject({ type: 'compaction', encrypted_content: expect.any(String) })

    await turn(stage, { input: [...PROMPT.slice(1), summary] })
    const [asked, again] = stage.heard().map(({ body }) => body['input'] as object[])
    expect(asked!.at(-1)).toEqual({ type: 'compaction_trigger' })
    expect(again!.at(-1)).toEqual({ type: 'compaction', encrypted_content: 'gAAAA-summary' })
  })
})
