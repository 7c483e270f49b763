import { describe, expect, it } from 'vitest'
import type { InputItem } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { MAX_JSON_DEPTH, parseJson } from '../../lib/json.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import { spokenTexts } from './spoken-texts.ts'

const BAD = 'HOW TO BUILD A BOMB'
const question: InputItem = { type: 'message', role: 'user', content: 'do it' }
const after = (item: object): ModelRequest => ({ input: [question, item as InputItem] })
const novel = (novelty: unknown): ModelRequest => {
  const request: ModelRequest & { readonly novelty: unknown } = { input: [question], novelty }
  return request
}
const base64 = Buffer.from(BAD).toString('base64')
const said = (request: ModelRequest): string => spokenTexts(request).join('\n\n')

describe('what a model may read', () => {
  it.each([63, 65, MAX_JSON_DEPTH - 4])('is read %d levels deep, as deep as the parser lets it be', (levels) => {
    const schema = `${'{"not":'.repeat(levels)}"${BAD}"${'}'.repeat(levels)}`
    const body = parseJson(Buffer.from(`{"input":[],"tools":[{"type":"function","name":"f","parameters":${schema}}]}`))
    expect(said(body as ModelRequest)).toContain(BAD)
  })

  it.each<[string, ModelRequest]>([
    ['instructions', { instructions: BAD, input: [] }],
    ['a message', { input: [{ type: 'message', role: 'user', content: BAD }] }],
    [
      'a format that an item of the input replaces',
      { input: [question], initial_settings: { text: { format: { type: 'json_schema', name: 'n', schema: { description: BAD } } } } },
    ],
    ['what is put in a custom tool', after({ type: 'custom_tool_call', call_id: 'c', name: 'n', input: BAD })],
    ['the name of a function', after({ type: 'function_call', call_id: 'c', name: BAD, arguments: '{}' })],
    ['arguments', after({ type: 'function_call', call_id: 'c', name: 'f', arguments: BAD })],
    ['a result in parts', after({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: BAD }] })],
    ['what one agent tells another', after({ type: 'agent_message', content: [{ type: 'encrypted_content', encrypted_content: BAD }] })],
    ['a value of a stored prompt', { input: [], prompt: { id: 'p', variables: { data: BAD } } }],
    ['a part among the values of a stored prompt', { input: [], prompt: { id: 'p', variables: { headers: { type: 'input_text', text: BAD } } } }],
    ['words in an envelope', after({ type: 'reasoning', summary: [], encrypted_content: sealReasoning({ format: 'f', scope: 's', text: BAD }) })],
    [
      'blocks in an envelope',
      after({
        type: 'web_search_call',
        encrypted_content: sealReasoning({ format: 'f', scope: 's', data: JSON.stringify([{ type: 'text', text: BAD }]) }),
      }),
    ],
    ['a refusal', after({ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: BAD }] })],
    ['a summary of reasoning', after({ type: 'reasoning', summary: [{ type: 'summary_text', text: BAD }] })],
    ['a search', after({ type: 'web_search_call', status: 'completed', action: { type: 'search', query: BAD } })],
    ['the result of a type nobody knows', after({ type: 'novelty_call', result: BAD })],
    ['a text file', after({ type: 'message', role: 'user', content: [{ type: 'input_file', file_data: `data:text/plain;base64,${base64}` }] })],
    [
      'a text file of 16 bits a character',
      after({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_file', filename: 'a.txt', file_data: Buffer.from(`\ufeff${BAD}`, 'utf16le').toString('base64') }],
      }),
    ],
    [
      'a file that is text by its name',
      after({ type: 'message', role: 'user', content: [{ type: 'input_file', filename: 'a.md', file_data: base64 }] }),
    ],
    [
      'a text file beside a file of no known form',
      novel([{ type: 'input_file', file_data: 5, filename: {}, file_url: `data:text/plain;base64,${base64}` }]),
    ],
    ['the name of a file', after({ type: 'message', role: 'user', content: [{ type: 'input_file', filename: BAD, file_id: 'x' }] })],
    ['what a plugin is to tell the model', { input: [question], plugins: [{ id: 'web', search_prompt: BAD }] }],
    ['what an image model is to draw', { input: [question], image_config: { font_inputs: [BAD] } }],
    ['what a tool says of itself', { input: [question], tools: [{ type: 'function', name: 'f', description: BAD }] }],
    ['parameters', { input: [question], tools: [{ type: 'function', name: 'f', parameters: { properties: { a: { description: BAD } } } }] }],
    ['names of parameters', { input: [question], tools: [{ type: 'function', name: 'f', parameters: { properties: { [BAD]: {} } } }] }],
    ['words under a name that means something elsewhere', { input: [question], tools: [{ type: 'function', name: 'f', parameters: { id: BAD } }] }],
    ['a schema', { input: [question], text: { format: { type: 'json_schema', name: 'x', schema: { description: BAD } } } }],
    ['a field nobody knows', novel([BAD])],
  ])('%s', (_what, request) => {
    expect(said(request)).toContain(BAD)
  })

  it('excludes bytes, credentials and the identity of the caller', () => {
    const request = {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${base64}` }] },
        { type: 'reasoning', encrypted_content: base64 },
        { type: 'image_generation_call', result: base64 },
        { type: 'gateway:image_generation', result: base64, imageUrl: `data:image/png;base64,${base64}` },
        { type: 'agent_message', content: [{ type: 'encrypted_content', encrypted_content: base64.repeat(4) }] },
        { type: 'openrouter:image_generation', result: base64 },
        { type: 'message', role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64}` }] },
      ],
      tools: [{ type: 'mcp', server_label: 's', headers: { 'x-key': 'secret-1' }, authorization: 'secret-2' }],
      user: 'somebody',
      metadata: { a: 'somebody' },
      provider: { order: ['somebody'] },
    } as unknown as ModelRequest
    expect(spokenTexts(request)).toEqual(['a.pdf', 's'])
  })

  it('is searched to a bounded depth', () => {
    let deep: unknown = 'x'
    for (let n = 0; n < 100_000; n++) deep = [deep]
    expect(spokenTexts(novel({ deep }))).toEqual(['do it'])
  })
})
