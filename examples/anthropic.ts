// Anthropic's own client, with any model.
import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: `${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api`, apiKey: process.env['SIGNALBOX_API_KEY'] })

const stream = client.messages.stream({
  model: process.env['MODEL'] ?? 'demo/reason',
  max_tokens: 4_000,
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  messages: [{ role: 'user', content: 'Hello from another format!' }],
})
stream.on('thinking', (words) => process.stdout.write(words))
stream.on('text', (words) => process.stdout.write(words))
const { usage } = await stream.finalMessage()
console.log('\n', usage)
