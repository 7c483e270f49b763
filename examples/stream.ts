// The words of an answer as they come, and what they cost.
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: `${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1`, apiKey: process.env['SIGNALBOX_API_KEY'] })

const stream = await client.responses.create({ model: process.env['MODEL'] ?? 'demo/echo', input: 'Hello, Signalbox!', stream: true })
for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
  if (event.type === 'response.failed') throw new Error(event.response.error?.message)
  if (event.type === 'response.completed') console.log('\n', event.response.usage)
}
