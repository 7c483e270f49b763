// The AI SDK, over the Responses API.
import { createOpenAI } from '@ai-sdk/openai'
import { streamText } from 'ai'

const gateway = createOpenAI({
  baseURL: `${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1`,
  apiKey: process.env['SIGNALBOX_API_KEY'],
})

const { textStream } = streamText({ model: gateway.responses(process.env['MODEL'] ?? 'demo/echo'), prompt: 'Hello from the AI SDK!' })
for await (const words of textStream) process.stdout.write(words)
console.log()
