import { expect, it } from 'vitest'
import type { Target } from '../../core/dialect.ts'
import { isGatewayError } from '../../core/error.ts'
import type { ModelRequest } from '../../core/request.ts'
import { answerDialects, dialects } from '../index.ts'
import { isElsewhere } from './file-data.ts'

const ADDRESS = 'ftp://files.example/notes.txt'

/** The request of each format for a file that is named by an address of no use here, or why there is none. */
function sent(name: string): string {
  const dialect = dialects.get(name)!
  const target: Target = {
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: 'small-1',
    options: dialect.options.parse({}),
    supports: new Set(dialect.supports),
    contextLength: 128_000,
    scope: 'acme/main',
    stream: true,
  }
  const file = { type: 'input_file', filename: 'notes.txt', file_url: ADDRESS } as const
  const request: ModelRequest = { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'read' }, file] }] }
  try {
    return dialect.encodeRequest(request, target).body
  } catch (error) {
    if (isGatewayError(error)) return error.errorType
    throw error
  }
}

it.each(answerDialects.map(({ name }) => name))('a URL the gateway cannot fetch is not taken for the file itself by %s', (name) => {
  const body = sent(name)
  if (body !== 'invalid_prompt') expect(body).toContain(`"file_url":"${ADDRESS}"`)
})

it('a URL is elsewhere when it is neither http(s) nor data', () => {
  const type = 'input_file'
  expect(['gs://b/a', 'file:///a', 'abc'].map((url) => isElsewhere({ type, file_url: url }))).toEqual([true, true, true])
  expect(['https://a.example/b', 'DATA:,x', ''].map((url) => isElsewhere({ type, file_url: url }))).toEqual([false, false, false])
  expect(isElsewhere({ type, file_data: 'AAAA', file_url: 'gs://b/a' })).toBe(false)
})
