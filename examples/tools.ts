// A function of yours, called by the model until it needs no more. The gateway keeps no conversations: each turn brings the whole history, items of the
// model exactly as they came, so that its reasoning survives.
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: `${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1`, apiKey: process.env['SIGNALBOX_API_KEY'] })

const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'The weather of a city, now.',
    parameters: { type: 'object', properties: { city: { type: 'string', examples: ['Paris'] } }, required: ['city'], additionalProperties: false },
    strict: true,
  },
]

function getWeather({ city }: { city: string }): object {
  return { city, celsius: 21, sky: 'clear' }
}

const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is the weather in Paris?' }]
for (let turn = 0; turn < 5; turn++) {
  const answer = await client.responses.create({ model: process.env['MODEL'] ?? 'demo/tool', input, tools })
  input.push(...(answer.output as OpenAI.Responses.ResponseInputItem[]))
  const calls = answer.output.filter((item) => item.type === 'function_call')
  if (calls.length === 0) {
    console.log(answer.output_text)
    break
  }
  for (const call of calls) {
    console.log(`${call.name}(${call.arguments})`)
    const result = getWeather(JSON.parse(call.arguments) as { city: string })
    input.push({ type: 'function_call_output', call_id: call.call_id, output: JSON.stringify(result) })
  }
}
