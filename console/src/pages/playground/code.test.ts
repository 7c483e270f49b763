import { expect, it } from 'vitest'
import { snippetsOf } from './code.ts'

const textOf = (label: string, body: { readonly [member: string]: unknown }): string =>
  snippetsOf(body, 'https://gateway.example').find((snippet) => snippet.label === label)?.text ?? ''

it('curl code quotes the body so that a shell passes it on unchanged', () => {
  expect(textOf('curl', { model: 'demo/echo', input: "it's" })).toBe(`curl https://gateway.example/api/v1/responses \\
  -H "Authorization: Bearer $SIGNALBOX_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{
  "model": "demo/echo",
  "input": "it'\\''s"
}'`)
})

it('curl code does not buffer a stream', () => {
  expect(textOf('curl', { model: 'demo/echo', stream: true })).toContain('curl -N https://')
})

it('Python code has Python literals, and fields its client does not know in extra_body', () => {
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

it('TypeScript code has property names, and a cast for fields the types do not know', () => {
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

it('function tools need no cast', () => {
  expect(textOf('TypeScript', { tools: [{ type: 'function', name: 'f' }] })).toContain('\n  tools: [')
})
