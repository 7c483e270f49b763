import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool as agentTool } from '@openai/agents'
import { callModel, OpenRouter as AgentClient, stepCountIs, tool as loopTool } from '@openrouter/agent'
import { OpenRouter } from '@openrouter/sdk'
import { generateText, isStepCount, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startFakeUpstream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { speakerOf, VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer } from '../../src/testing/voices/voice.ts'
import { weatherIn, WEATHER_SCHEMA } from './stage.ts'
import { verifies } from '../requirements.ts'

/**
 * Tool loops of common clients, in front of every vendor's format. The model reasons, writes and calls twice in one turn. What the vendor signed or sealed
 * of its reasoning is sent back to it with the results, whatever the client does with it.
 */

const SECRET = 'SECRETc2VjcmV0'
const CALLS = ['bern', 'oslo'].map((city) => ({ id: `call_${city}`, name: 'weather', arguments: JSON.stringify({ city }) }))
const TURNS: readonly ScriptedAnswer[] = [
  { reasoning: { text: 'Two cities, two calls.', secret: SECRET }, text: 'Let me look.', calls: CALLS },
  { text: 'Both are sunny.' },
]
const QUESTION = 'How is the weather in Bern and Oslo?'
const parameters = { ...WEATHER_SCHEMA, required: [...WEATHER_SCHEMA.required] }
const inputSchema = z.object({ city: z.string() })
const look = async ({ city }: { readonly city: string }): Promise<string> => weatherIn(city)

const voices = [...VENDOR_VOICES.values()]
const upstreams = new Map<string, FakeUpstream>()
let gateway: TestGateway
let turns: ScriptedAnswer[] = []

beforeAll(async () => {
  setTracingDisabled(true)
  for (const voice of voices)
    upstreams.set(voice.dialect, await startFakeUpstream(speakerOf(voice, () => turns.shift() ?? { text: 'asked too often' })))
  const supports = ['tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'max_tokens']
  gateway = await startGateway({
    providers: voices.map(({ dialect, options }) => ({
      slug: `v-${dialect}`,
      dialect,
      base_url: upstreams.get(dialect)!.url,
      api_keys: ['k'],
      options,
    })),
    models: voices.map(({ dialect, model }) => ({
      slug: `acme/${dialect}`,
      context_length: 200_000,
      endpoints: [{ provider: `v-${dialect}`, upstream_model: model, supports }],
    })),
    routing: { cooldown: false, retries: false, sticky: false },
  })
})
afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})
beforeEach(() => {
  turns = [...TURNS]
  for (const upstream of upstreams.values()) (upstream.requests as unknown[]).length = 0
})

const baseURL = (): string => `${gateway.url}/api/v1`
const openai = (): OpenAI => new OpenAI({ apiKey: gateway.key, baseURL: baseURL(), maxRetries: 0 })

async function byResponses(model: string, streamed: boolean): Promise<string> {
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }]
  const body = { model, input, tools: [{ type: 'function' as const, name: 'weather', parameters, strict: false }] }
  for (;;) {
    const answer = streamed ? await openai().responses.stream(body).finalResponse() : await openai().responses.create(body)
    const output: readonly OpenAI.Responses.ResponseOutputItem[] = answer.output
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    if (calls.length === 0) return answer.output_text
    input.push(...(answer.output as OpenAI.Responses.ResponseInputItem[]))
    for (const { call_id, arguments: args } of calls)
      input.push({ type: 'function_call_output', call_id, output: await look(inputSchema.parse(JSON.parse(args))) })
  }
}

async function byChat(model: string, streamed: boolean): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }]
  const body = { model, messages, tools: [{ type: 'function' as const, function: { name: 'weather', parameters } }] }
  for (;;) {
    const answer = streamed ? await openai().chat.completions.stream(body).finalChatCompletion() : await openai().chat.completions.create(body)
    const { message } = answer.choices[0]!
    messages.push(message)
    if (!message.tool_calls?.length) return message.content ?? ''
    for (const call of message.tool_calls)
      if (call.type === 'function')
        messages.push({ role: 'tool', tool_call_id: call.id, content: await look(inputSchema.parse(JSON.parse(call.function.arguments))) })
  }
}

type AiModel = Parameters<typeof generateText>[0]['model']

async function byAiSdk(model: AiModel, streamed: boolean): Promise<string> {
  const weather = tool({ description: 'Weather', inputSchema, execute: look })
  const options = { model, prompt: QUESTION, tools: { weather }, stopWhen: isStepCount(4), maxRetries: 0 }
  if (!streamed) return (await generateText(options)).text
  const failures: unknown[] = []
  const result = streamText({ ...options, onError: ({ error }) => void failures.push(error) })
  await result.consumeStream()
  expect(failures).toEqual([])
  return result.text
}

async function byAgents(model: string): Promise<string> {
  const weather = agentTool({ name: 'weather', description: 'Weather', parameters: inputSchema, execute: look })
  const agent = new Agent({ name: 'a', instructions: 'Be brief', model: new OpenAIResponsesModel(openai(), model), tools: [weather] })
  return String((await run(agent, QUESTION)).finalOutput)
}

async function byRouterChat(model: string): Promise<string> {
  const client = new OpenRouter({ apiKey: gateway.key, serverURL: baseURL(), retryConfig: { strategy: 'none' } })
  const messages: Parameters<typeof client.chat.send>[0]['chatRequest']['messages'] = [{ role: 'user', content: QUESTION }]
  for (;;) {
    const answer = await client.chat.send({
      chatRequest: { model, messages, tools: [{ type: 'function', function: { name: 'weather', parameters } }] },
    })
    const { message } = (answer as Extract<typeof answer, { choices: unknown }>).choices[0]!
    messages.push(message)
    if (!message.toolCalls?.length) return z.string().parse(message.content)
    for (const { id, function: called } of message.toolCalls)
      messages.push({ role: 'tool', toolCallId: id, content: await look(inputSchema.parse(JSON.parse(called.arguments))) })
  }
}

async function byRouterAgent(model: string): Promise<string> {
  const client = new AgentClient({ apiKey: gateway.key, serverURL: baseURL() })
  const weather = loopTool({ name: 'weather', description: 'Weather', inputSchema, execute: async (args) => ({ sky: await look(args) }) })
  return callModel(client, { model, input: QUESTION, tools: [weather] as const, stopWhen: stepCountIs(4) }).getText()
}

const responses = (model: string): AiModel => createOpenAI({ apiKey: gateway.key, baseURL: baseURL() }).responses(model)
const openResponses = (model: string): AiModel => createOpenResponses({ name: 'sb', url: `${baseURL()}/responses`, apiKey: gateway.key })(model)

const WAYS: readonly (readonly [string, (model: string) => Promise<string>])[] = [
  ['openai, responses', (model) => byResponses(model, false)],
  ['openai, streamed responses', (model) => byResponses(model, true)],
  ['openai, chat', (model) => byChat(model, false)],
  ['openai, streamed chat', (model) => byChat(model, true)],
  ['@ai-sdk/openai', (model) => byAiSdk(responses(model), false)],
  ['@ai-sdk/openai, streamed', (model) => byAiSdk(responses(model), true)],
  ['@ai-sdk/open-responses', (model) => byAiSdk(openResponses(model), false)],
  ['@ai-sdk/open-responses, streamed', (model) => byAiSdk(openResponses(model), true)],
  ['@openai/agents', byAgents],
  ['@openrouter/sdk, chat', byRouterChat],
  ['@openrouter/agent', byRouterAgent],
]

describe.each(voices.map((voice) => [voice.dialect, voice] as const))(verifies('S2-clients', 'in front of an upstream of %s'), (dialect, voice) => {
  it.each(WAYS)('%s', async (_way, ask) => {
    expect(await ask(`acme/${dialect}`)).toBe('Both are sunny.')
    const seen = upstreams.get(dialect)!.requests
    expect(seen).toHaveLength(2)
    const { body } = seen[1]!
    const said = voice.turns(body)
    expect(said.flatMap(({ calls }) => calls)).toEqual(CALLS.map(({ id }) => id))
    expect(said.flatMap(({ results }) => results)).toEqual(CALLS.map(({ id }) => id))
    const text = JSON.stringify(body)
    expect(text).toContain('Let me look.')
    for (const { arguments: args } of CALLS) expect(text).toContain(weatherIn((JSON.parse(args) as { city: string }).city))
    if (voice.returnsSecret) expect(text).toContain(SECRET)
    // The signature of a call is on the call, wherever clients put a message's reasoning.
    if (dialect === 'gemini') expect(text).toMatch(new RegExp(`"functionCall":\\{[^}]*bern[^}]*\\}\\},"thoughtSignature":"${SECRET}"`))
  })
})
