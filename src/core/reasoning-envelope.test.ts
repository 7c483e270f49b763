import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { threadTime } from '../testing/thread-time.ts'
import { openReasoning, readableIn, sealReasoning } from './reasoning-envelope.ts'

const WRITTEN = '['.repeat(2_000_000)

describe(verifies('B1', 'millions of brackets in a forged envelope'), () => {
  it('cost no more than their text: what cannot be JSON is treated as plain text', () => {
    const began = threadTime()
    const sealed = sealReasoning({ format: 'anthropic-claude-v1', scope: 'x', data: WRITTEN })
    expect(readableIn(sealed)).toEqual([WRITTEN])
    expect(openReasoning(`sb1.${Buffer.from(WRITTEN).toString('base64url')}.x`)).toBeUndefined()
    expect(threadTime() - began).toBeLessThan(700)
  })
})
