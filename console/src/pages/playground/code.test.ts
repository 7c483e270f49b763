import { expect, it } from 'vitest'
import { snippetsOf } from './code.ts'

const textOf = (label: string, body: { readonly [member: string]: unknown }): string =>
  snippetsOf(body, 'https://gateway.example').find((snippet) => snippet.label === label)?.text ?? ''

it('curl gets a body that a shell hands on as it is, quotes included', () => {
  expect(textOf('curl', { model: 'demo/echo', input: "it's" })).toBe(`curl https://gateway.example/api/v1/responses \\
  -H "Authorization: Bearer $SIGNALBOX_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "model": "demo/echo",
  "input": "it'\\''s"
}'`)
})

it('curl does not hold a stream back', () => {
  expect(textOf('curl', { model: 'demo/echo', stream: true })).toContain('curl -N https://')
})

it('Python gets its own words, and what its client does not know beside the body', () => {
  expect(textOf('Python', { model: 'm', input: 'say "hi"\n', parallel_tool_calls: false, models: ['a'], user: null, stream: true })).toBe(`import os
from openai import OpenAI

client = OpenAI(base_url="https://gateway.example/api/v1", api_key=os.environ["SIGNALBOX_API_KEY"])

stream = client.responses.create(
    model="m",
    input="say \\"hi\\"\\n",
    parallel_tool_calls=False,
    user=None,
    stream=True,
    extra_body={
        "models": [
            "a",
        ],
    },
)
for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`)
})

it('TypeScript gets members by name, and what the types do not know past them', () => {
  expect(
    textOf('TypeScript', { model: 'm', input: 'hi', reasoning: { effort: 'low' }, provider: { 'x-y': 1 }, tools: [{ type: 'gateway:datetime' }] }),
  ).toBe(`import OpenAI from 'openai'

const client = new OpenAI({ baseURL: 'https://gateway.example/api/v1', apiKey: process.env.SIGNALBOX_API_KEY })

const response = await client.responses.create({
  model: "m",
  input: "hi",
  reasoning: {
    effort: "low"
  },
  ...({
    provider: {
      "x-y": 1
    },
    tools: [
      {
        type: "gateway:datetime"
      }
    ]
  } as object),
})
console.log(response.output_text)`)
})

it('functions are tools every client knows', () => {
  expect(textOf('TypeScript', { tools: [{ type: 'function', name: 'f' }] })).toContain('\n  tools: [')
})
