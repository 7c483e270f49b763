// An agent of the OpenAI Agents SDK with a tool of yours.
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { z } from 'zod'

const modelProvider = new OpenAIProvider({
  baseURL: `${process.env['SIGNALBOX_URL'] ?? 'http://127.0.0.1:8787'}/api/v1`,
  apiKey: process.env['SIGNALBOX_API_KEY'],
})
// Traces of the SDK go to OpenAI unless told otherwise; a destination of the gateway has them all.
const runner = new Runner({ modelProvider, tracingDisabled: true })

const roll = tool({
  name: 'roll_dice',
  description: 'Rolls dice and says what they show together.',
  parameters: z.object({ dice: z.number().int() }),
  execute: ({ dice }) => `${dice} dice show ${dice * 4}`,
})
const agent = new Agent({ name: 'Croupier', instructions: 'Roll the dice.', model: process.env['MODEL'] ?? 'demo/tool', tools: [roll] })
const { finalOutput } = await runner.run(agent, 'Roll them!')
console.log(finalOutput)
