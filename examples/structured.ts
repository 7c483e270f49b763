// An answer that fits a schema, whichever format the provider has for that.
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'

const client = new OpenAI({ baseURL: `${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1`, apiKey: process.env['SIGNALBOX_API_KEY'] })

const Recipe = z.object({ title: z.string(), minutes: z.number().int(), ingredients: z.array(z.string()) })

const answer = await client.responses.parse({
  model: process.env['MODEL'] ?? 'demo/json',
  input: 'Pancakes for two, please.',
  text: { format: zodTextFormat(Recipe, 'recipe') },
})
console.log(answer.output_parsed)
