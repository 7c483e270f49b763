import { OpenRouter, serverTool, tool } from '@openrouter/agent'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startMcpServer, type TestMcpServer } from '../../src/testing/mcp-server.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'

/** A loop inside a loop: the gateway runs its own tools, this client runs the caller's, and the conversation alternates between them. */
let upstream: FakeUpstream
let mcp: TestMcpServer
let gateway: TestGateway
let client: OpenRouter

beforeAll(async () => {
  upstream = await startFakeUpstream()
  mcp = await startMcpServer('modern')
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false }, network: { allow_private: { tools: true } } }))
  client = new OpenRouter({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
})
afterAll(async () => {
  await gateway.close()
  await mcp.close()
  await upstream.close()
})
beforeEach(() => {
  ;(upstream.requests as unknown[]).length = 0
})

const asked: string[] = []
const weather = tool({
  name: 'weather',
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    asked.push(city)
    return { weather: `sunny in ${city}` }
  },
})
const rolesOf = (n: number): unknown[] => (upstream.requests[n]!.body['messages'] as { role: string }[]).map(({ role }) => role)

describe('@openrouter/agent', () => {
  it('runs its own function between turns in which the gateway runs tools', async () => {
    asked.length = 0
    upstream.script(calls(['datetime', { timezone: 'UTC' }]), calls(['weather', { city: 'Bern' }]), calls(['datetime', {}]), says('Sunny, and late.'))
    const result = client.callModel({
      model: 'acme/small',
      input: 'How is Bern?',
      tools: [serverTool({ type: 'openrouter:datetime' }), weather] as const,
    })
    expect(await result.getText()).toBe('Sunny, and late.')
    expect(asked).toEqual(['Bern'])
    // The last turn of the model has received both results of the gateway and the one of the caller.
    expect(rolesOf(3).filter((role) => role === 'tool')).toHaveLength(3)
    expect(JSON.stringify(upstream.requests[3]!.body)).toContain('sunny in Bern')
  })

  it('streams the text of a loop with a remote server', async () => {
    upstream.script(calls(['math__add', { a: 2, b: 3 }]), says('It is ', 'five.'))
    const remote = serverTool({ type: 'mcp', serverLabel: 'math', serverUrl: mcp.url, requireApproval: 'never' })
    const result = client.callModel({ model: 'acme/small', input: 'Add.', tools: [remote] as const })
    let text = ''
    for await (const delta of result.getTextStream()) text += delta
    expect(text).toBe('It is five.')
    expect((await result.getResponse()).usage).toMatchObject({ inputTokens: 22 })
    expect(mcp.calls).toEqual([{ tool: 'add', args: { a: 2, b: 3 } }])
  })
})
