import { expect, it } from 'vitest'
import type { ModelRequest } from '../../core/request.ts'
import { target } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

function encode(request: Partial<ModelRequest>) {
  const { body, dropped } = openAiResponses.encodeRequest({ input: [], ...request }, target())
  return { body: JSON.parse(body) as { readonly input: readonly { readonly content: unknown }[] }, dropped }
}

it('a file has a name if it has bytes, and only then, because servers require both or neither', () => {
  const content = [
    { type: 'input_file' as const, file_url: 'https://f.test/a.pdf', filename: 'a.pdf' },
    { type: 'input_file' as const, file_id: 'file-1', filename: 'a.pdf' },
    { type: 'input_file' as const, file_data: 'https://f.test/b.pdf', filename: null },
    { type: 'input_file' as const, file_data: 'JVBERi0=' },
    { type: 'input_file' as const, file_data: 'data:text/plain;base64,aGk=' },
    { type: 'input_file' as const, file_data: 'data:application/x-unheard-of;base64,aGk=' },
  ]
  const { body, dropped } = encode({ input: [{ type: 'message', role: 'user', content }] })
  expect(body.input[0]?.content).toEqual([
    { type: 'input_file', file_url: 'https://f.test/a.pdf' },
    { type: 'input_file', file_id: 'file-1' },
    { type: 'input_file', file_url: 'https://f.test/b.pdf' },
    { type: 'input_file', filename: 'file.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    { type: 'input_file', filename: 'file.txt', file_data: 'data:text/plain;base64,aGk=' },
    { type: 'input_file', filename: 'file', file_data: 'data:application/x-unheard-of;base64,aGk=' },
  ])
  expect(dropped).toEqual(['input: filename'])
})
