import { expect, it } from 'vitest'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import { decodeBody, fold } from './__fixtures__/harness.ts'

it('a reasoning format without a name in the contract is shown as unknown, and kept in the envelope', () => {
  const { events } = decodeBody({
    output: [
      { type: 'reasoning', summary: [], encrypted_content: 'blob', format: 'newvendor-v2' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [] }] },
    ],
  })
  const end = fold(events).items[0]?.end
  expect(end?.['format']).toBe('unknown')
  expect(openReasoning(String(end?.['encrypted_content']))).toEqual({ format: 'newvendor-v2', scope: 'acme/main', data: 'blob' })
})
