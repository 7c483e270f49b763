import { AzureOpenAI } from 'openai'
import { describe, expect, it } from 'vitest'
import { chatText, status, stream } from '../../src/testing/fake-upstream.ts'
import { verifies } from '../requirements.ts'
import { expectWeatherLoop, MODEL, setStage, weatherIn, WEATHER_SCHEMA, WEATHER_TURNS } from './stage.ts'

describe(verifies('S2-clients', 'clients of vendors that serve the formats of OpenAI below a folder of their own'), () => {
  const stage = setStage('openai-chat')
  const settings = (): ConstructorParameters<typeof AzureOpenAI>[0] => ({
    endpoint: `${stage.gateway().url}/api`,
    apiKey: stage.gateway().key,
    apiVersion: '2024-10-21',
    maxRetries: 0,
  })
  const client = (more: ConstructorParameters<typeof AzureOpenAI>[0] = {}): AzureOpenAI => new AzureOpenAI({ ...settings(), ...more })
  const post = (path: string, body: object, headers: { readonly [name: string]: string } = { 'api-key': stage.gateway().key }): Promise<Response> =>
    fetch(`${stage.gateway().url}/api/openai${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const messages = [{ role: 'user' as const, content: 'Hi' }]

  it('chat with the model whose deployment they name', async () => {
    stage.says(stream(chatText('Hello ', 'there')))
    const { choices, model } = await client().chat.completions.create({ model: MODEL, messages })
    expect([choices[0]!.message.content, model]).toEqual(['Hello there', MODEL])
    expect(stage.heard()[0]!.body['model']).toBe('small-1')
  })

  it('chat with their deployment, whatever model they name in the body', async () => {
    stage.says(stream(chatText('Hello')))
    const { model } = await client({ deployment: MODEL }).chat.completions.create({ model: 'gpt-35-turbo', messages })
    expect(model).toBe(MODEL)
  })

  it('stream, and run tools', async () => {
    stage.says(...WEATHER_TURNS)
    const runner = client().chat.completions.runTools({
      model: MODEL,
      stream: true,
      messages: [{ role: 'user', content: 'Weather in Bern and Oslo?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'Weather',
            parameters: { ...WEATHER_SCHEMA, required: [...WEATHER_SCHEMA.required] },
            parse: (text: string) => JSON.parse(text) as { city: string },
            function: ({ city }: { city: string }) => weatherIn(city),
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('Bern is sunny, Oslo is sunny.')
    expectWeatherLoop(stage)
  })

  it('ask for responses', async () => {
    stage.says(stream(chatText('Hello')))
    expect((await client().responses.create({ model: MODEL, input: 'Hi' })).output_text).toBe('Hello')
  })

  it('ask for vectors', async () => {
    const { data } = await client().embeddings.create({ model: 'demo/embed', input: ['a', 'b'], dimensions: 8 })
    expect(data.map(({ embedding }) => embedding.length)).toEqual([8, 8])
  })

  it.each([
    ['/v1/chat/completions', { model: MODEL, messages }],
    ['/v1/responses', { model: MODEL, input: 'Hi' }],
    ['/v1/embeddings', { model: 'demo/embed', input: 'Hi' }],
  ])('find %s there, with either header', async (path, body) => {
    stage.says(stream(chatText('Hello')))
    expect((await post(path, body)).status).toBe(200)
    expect((await post(path, body, { authorization: `Bearer ${stage.gateway().key}` })).status).toBe(200)
  })

  it('read failures', async () => {
    stage.says(status(429, { error: { message: 'Slow down' } }, { 'retry-after': '7' }))
    await expect(client().chat.completions.create({ model: MODEL, messages })).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('Slow down'),
    })
    await expect(client().chat.completions.create({ model: 'nobody/nothing', messages })).rejects.toMatchObject({ status: 404 })
    await expect(client({ apiKey: 'wrong' }).chat.completions.create({ model: MODEL, messages })).rejects.toMatchObject({ status: 401 })
    const { error } = (await (await post('/deployments/%E0%A4%A/chat/completions', { messages })).json()) as {
      error: { code: number; message: string }
    }
    expect(error).toMatchObject({ code: 400, message: expect.stringContaining('model must be named in the path') })
  })

  it('have their header nowhere else', async () => {
    const headers = { 'api-key': stage.gateway().key }
    const answer = await fetch(`${stage.baseURL()}/chat/completions`, { method: 'POST', headers, body: JSON.stringify({ model: MODEL, messages }) })
    expect(answer.status).toBe(401)
  })
})
