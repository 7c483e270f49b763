import { describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import { renderError } from './error-handler.ts'

/** Half a character, as JSON writes it: strict readers refuse the whole text for it. */
const HALF = /\\ud[89a-f][0-9a-f]{2}/

describe('an error answer', () => {
  it('is JSON that strict readers take, wherever a text in it was cut', () => {
    const error = new GatewayError('permission_denied', `${'x'.repeat(999)}😀`, { raw: 'a\ud83d', metadata: { patterns: ['b\ud83d'] } })
    const { body } = renderError(error, 'id', { gateway_metadata: { summary: 'c\ud83d' } })
    expect(body).not.toMatch(HALF)
    expect(JSON.parse(body)).toMatchObject({
      error: { message: 'x'.repeat(999), metadata: { raw: 'a\ufffd', patterns: ['b\ufffd'] } },
      gateway_metadata: { summary: 'c\ufffd' },
    })
  })
})
