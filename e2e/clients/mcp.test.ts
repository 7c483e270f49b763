import { createOpenAI } from '@ai-sdk/openai'
import { OpenRouter } from '@openrouter/sdk'
import type { OpenResponsesResult, StreamEvents } from '@openrouter/sdk/models'
import { generateText, type ModelMessage, streamText } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startMcpServer, type TestMcpServer } from '../../src/testing/mcp-server.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'
import { expectKnown } from './expect-known.ts'

/**
 * Remote MCP servers with three clients: the one whose vendor invented the tool, the one that refuses a whole answer because of one field, and the one
 * that knows the contract by schema.
 */
let upstream: FakeUpstream
let mcp: TestMcpServer
let telling: TestGateway
let silent: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream()
  mcp = await startMcpServer('sessions')
  const config = (tools: object) => chatConfig([upstream.url], { routing: { sticky: false }, network: { allow_private: { tools: true } }, tools })
  telling = await startGateway(config({}))
  silent = await startGateway(config({ mcp: { progress_events: false } }))
})
afterAll(async () => {
  await telling.close()
  await silent.close()
  await mcp.close()
  await upstream.close()
})

describe('openai', () => {
  const client = (): OpenAI => new OpenAI({ apiKey: telling.key, baseURL: `${telling.url}/api/v1`, maxRetries: 0 })
  const tool = (approval: 'always' | 'never'): OpenAI.Responses.Tool.Mcp => ({
    type: 'mcp',
    server_label: 'math',
    server_url: mcp.url,
    require_approval: approval,
  })

  it('reads a call from the stream, by its helper and event by event', async () => {
    const body = { model: 'acme/small', input: 'Add.', tools: [tool('never')] }
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('Five.'))
    const final = await client().responses.stream(body).finalResponse()
    expect(final.output).toMatchObject([
      { type: 'mcp_list_tools', server_label: 'math' },
      { type: 'mcp_call', name: 'add', arguments: '{"a":2,"b":3}', output: '5' },
      { type: 'message' },
    ])
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('Five.'))
    let args = ''
    const seen: string[] = []
    for await (const event of await client().responses.create({ ...body, stream: true })) {
      seen.push(event.type)
      if (event.type === 'response.mcp_call_arguments.delta') args += event.delta
    }
    expect(args).toBe('{"a":2,"b":3}')
    expect(seen).toEqual(expect.arrayContaining(['response.mcp_list_tools.completed', 'response.mcp_call.completed']))
  })

  it('approves a call, and reads its result', async () => {
    upstream.script(calls(['math__add', { a: 2, b: 3 }]))
    const first = await client().responses.create({ model: 'acme/small', input: 'Add.', tools: [tool('always')] })
    const request = first.output.find((item) => item.type === 'mcp_approval_request')!
    upstream.script(says('Five.'))
    const second = await client().responses.create({
      model: 'acme/small',
      tools: [tool('always')],
      input: [
        { role: 'user', content: 'Add.' },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'mcp_approval_response', approval_request_id: request.id, approve: true },
      ],
    })
    expect(second.output[0]).toMatchObject({ type: 'mcp_call', output: '5', approval_request_id: request.id })
    expect(second.output_text).toBe('Five.')
  })
})

describe('@ai-sdk/openai', () => {
  interface Asked {
    readonly text: string
    readonly content: readonly { readonly type: string }[]
    readonly messages: readonly ModelMessage[]
  }
  const options = (messages: readonly ModelMessage[], requireApproval: 'always' | 'never') => {
    const provider = createOpenAI({ apiKey: telling.key, baseURL: `${telling.url}/api/v1` })
    const tools = { mcp: provider.tools.mcp({ serverLabel: 'math', serverUrl: mcp.url, requireApproval }) }
    return { model: provider.responses('acme/small'), messages: [...messages], tools, maxRetries: 0 }
  }
  const ways: readonly (readonly [string, (messages: readonly ModelMessage[], approval: 'always' | 'never') => Promise<Asked>])[] = [
    [
      'generateText',
      async (messages, approval) => {
        const { text, content, response } = await generateText(options(messages, approval))
        return { text, content, messages: response.messages }
      },
    ],
    [
      'streamText',
      async (messages, approval) => {
        const failures: unknown[] = []
        const result = streamText({ ...options(messages, approval), onError: ({ error }) => void failures.push(error) })
        await result.consumeStream()
        if (failures.length > 0) throw failures[0]
        return { text: await result.text, content: await result.content, messages: (await result.response).messages }
      },
    ],
  ]
  const prompt: ModelMessage = { role: 'user', content: 'Add.' }

  it.each(ways)('reads a list of tools with and without annotations, a call and its result, by %s', async (_way, ask) => {
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('Five.'))
    const { text, content } = await ask([prompt], 'never')
    expect(text).toBe('Five.')
    expect(content).toMatchObject([{ type: 'tool-call', toolName: 'mcp.add' }, { type: 'tool-result', output: { output: '5' } }, { type: 'text' }])
  })

  it.each(ways)('reads a list of tools that have nothing but a name and a schema, by %s', async (_way, ask) => {
    mcp.listAs(() => ({ tools: [{ name: 'bare', inputSchema: { type: 'object' } }] }))
    try {
      upstream.script(says('Listed.'))
      expect((await ask([prompt], 'never')).text).toBe('Listed.')
    } finally {
      mcp.listAs(undefined)
    }
  })

  it.each(ways)('approves a call, by %s', async (_way, ask) => {
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('Five.'))
    const asked = await ask([prompt], 'always')
    const request = asked.content.find((part) => part.type === 'tool-approval-request') as { readonly approvalId: string } | undefined
    const approval = { type: 'tool-approval-response' as const, approvalId: request!.approvalId, approved: true, providerExecuted: true }
    const { text, content } = await ask([prompt, ...asked.messages, { role: 'tool', content: [approval] }], 'always')
    expect(text).toBe('Five.')
    expect(content.map(({ type }) => type)).toEqual(['tool-call', 'tool-result', 'text'])
  })
})

describe('@openrouter/sdk', () => {
  const client = (gateway: TestGateway): OpenRouter =>
    new OpenRouter({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
  const request = () => ({
    model: 'acme/small',
    input: 'Add.',
    tools: [{ type: 'mcp' as const, serverLabel: 'math', serverUrl: mcp.url, requireApproval: 'never' as const }],
  })
  /** Items of a vendor's own tool for which the contract has no name: the client passes them on unread, like those of every vendor. */
  const isCarried = (raw: unknown): boolean => ['mcp_list_tools', 'mcp_call'].includes((raw as { type: string }).type)
  const stream = async (gateway: TestGateway): Promise<readonly StreamEvents[]> => {
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('Five.'))
    const events: StreamEvents[] = []
    const sent = (await client(gateway).beta.responses.send({ responsesRequest: { ...request(), stream: true } })) as AsyncIterable<StreamEvents>
    for await (const event of sent) events.push(event)
    return events
  }

  it('knows every event where the operator leaves the vendor’s progress out', async () => {
    const events = await stream(silent)
    for (const event of events) expectKnown(event, isCarried)
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { outputText: 'Five.' } })
  })

  it('misses nothing but that progress where it is told', async () => {
    const events = await stream(telling)
    const unknown = events.flatMap((event) =>
      (event as { isUnknown?: boolean }).isUnknown === true ? [(event as { raw: { type: string } }).raw.type] : [],
    )
    expect(unknown.every((type) => type.startsWith('response.mcp_'))).toBe(true)
    expect(unknown).toHaveLength(6)
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { outputText: 'Five.' } })
  })

  it('reads the whole answer, and sends it back', async () => {
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('Five.'))
    const answer = (await client(telling).beta.responses.send({ responsesRequest: { ...request(), stream: false } })) as OpenResponsesResult
    expectKnown(answer, isCarried)
    upstream.script(says('Again.'))
    const given = answer.output.map((item) => asInput((item as { raw?: unknown }).raw ?? item))
    const input = [{ role: 'user' as const, content: 'Add.' }, ...(given as never[]), { role: 'user' as const, content: 'and?' }]
    const again = (await client(telling).beta.responses.send({ responsesRequest: { ...request(), input, stream: false } })) as OpenResponsesResult
    expect(again.status).toBe('completed')
  })
})

/** Items that the client passed on unread, in the spelling that it accepts as input. */
function asInput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asInput)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      key === 'input_schema' ? inner : asInput(inner),
    ]),
  )
}
