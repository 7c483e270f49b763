/**
 * What reading a request body costs: parse, validate, decode; microseconds per body in the least disturbed round.
 *
 *   node bench/micro/validate.ts
 */
import { parseArgs } from 'node:util'
import { decodeResponsesRequest } from '../../src/doors/responses/decode-request.ts'
import { responsesRequest } from '../../src/doors/responses/schema.ts'
import { findFault } from '../../src/doors/responses/schema-combinators.ts'
import { describeIssue } from '../../src/doors/responses/validation-message.ts'
import { parseJson } from '../../src/lib/json.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const rounds = Number(values.rounds)

const sentence = 'The quick brown fox jumps over the lazy dog while the gateway counts what it costs. '

/** A chat of short turns with one function tool, the most common form. */
function chat(bytes: number): unknown {
  const input: unknown[] = [{ role: 'developer', content: sentence.repeat(3) }]
  while (JSON.stringify(input).length < bytes - 500) {
    input.push({ role: 'user', content: sentence.repeat(2) })
    input.push({ role: 'assistant', content: [{ type: 'output_text', text: sentence.repeat(2), annotations: [] }] })
  }
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
  const tool = { type: 'function', name: 'weather', description: 'Current weather of a city', parameters, strict: true }
  return { model: 'acme/small', stream: true, temperature: 0.7, max_output_tokens: 512, store: false, input, tools: [tool], tool_choice: 'auto' }
}

/** An agent's turn: many calls with their results and reasoning. */
function agent(calls: number): unknown {
  const input: unknown[] = [{ role: 'user', content: [{ type: 'input_text', text: sentence }] }]
  for (let i = 0; i < calls; i += 1) {
    input.push({ type: 'reasoning', summary: [{ type: 'summary_text', text: sentence }], encrypted_content: 'x'.repeat(200) })
    input.push({ type: 'function_call', call_id: `call_${i}`, name: 'read_file', arguments: `{"path":"src/${i}.ts"}` })
    input.push({ type: 'function_call_output', call_id: `call_${i}`, output: sentence.repeat(4) })
  }
  return { model: 'acme/small', stream: true, store: false, include: ['reasoning.encrypted_content'], input }
}

const image = [{ type: 'input_image', image_url: `data:image/png;base64,${'QUJD'.repeat(250_000)}` }]
const bodies: readonly (readonly [string, unknown])[] = [
  ['chat 2 KB', chat(2_000)],
  ['chat 50 KB', chat(50_000)],
  ['agent 50 KB', agent(65)],
  ['image 1 MB', { model: 'acme/small', input: [{ role: 'user', content: image }] }],
]

let sink: unknown

function measure(work: () => unknown, budgetMs = 20): number {
  const times: number[] = []
  for (let round = 0; round < rounds + 3; round += 1) {
    let n = 0
    const start = performance.now()
    let elapsed = 0
    do {
      for (let i = 0; i < 16; i += 1) sink = work()
      n += 16
      elapsed = performance.now() - start
    } while (elapsed < budgetMs)
    if (round >= 3) times.push((elapsed * 1000) / n)
  }
  return Math.min(...times)
}

console.log('body                bytes   JSON.parse    parseJson     validate       decode')
for (const [name, body] of bodies) {
  const bytes = Buffer.from(JSON.stringify(body))
  const figures = [
    measure(() => JSON.parse(bytes.toString()) as unknown),
    measure(() => parseJson(bytes)),
    measure(() => findFault(responsesRequest, body, describeIssue)),
    measure(() => decodeResponsesRequest(body)),
  ]
  console.log(name.padEnd(16), String(bytes.length).padStart(8), ...figures.map((us) => us.toFixed(2).padStart(12)))
}
// Read once, so that the compiler cannot drop the work.
if (sink === null) console.log('nothing was measured')
