import { describe, expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { createLogger } from './logger.ts'
import { verifies } from '../../e2e/requirements.ts'

function lines(format: 'json' | 'pretty', use: (log: ReturnType<typeof createLogger>) => void): string {
  let text = ''
  use(createLogger({ level: 'debug', format, destination: { write: (line) => void (text += line) } }))
  return text
}

describe('createLogger', () => {
  it('writes one JSON object per line', () => {
    const [line] = lines('json', (log) => log.info({ id: 'gen-1' }, 'call'))
      .trim()
      .split('\n')
    expect(JSON.parse(line!)).toMatchObject({ level: 'info', id: 'gen-1', msg: 'call' })
  })

  it.each(['json', 'pretty'] as const)(verifies('G1', 'shows no credential in %s lines, whatever text carries it'), (format) => {
    const canary = 'CANARY0123456789abcdef'
    const text = lines(format, (log) => {
      log.error({ error: new Error(`GET https://x/y?key=${canary} failed`) }, `Authorization: Bearer ${canary}`)
      log.warn({ key: new Secret(canary), note: `used sk-${canary}` }, 'x')
    })
    expect(text).not.toContain(canary)
    expect(text).toContain('[redacted]')
  })

  it('hides keys without a dash after their prefix', () => {
    const text = lines('json', (log) => log.warn({ note: 'x-goog-api-key: AIzaSyCANARY0123456789abcdef' }, 'AIzaSyCANARY0123456789abcdef'))
    expect(text).not.toContain('CANARY')
  })

  it.each(['json', 'pretty'] as const)(verifies('B9', 'writes one %s line whatever a text holds, and no code for a terminal'), (format) => {
    const hostile = 'x\n12:00:00.000 ERROR forged\r\u001b[2J\u001b]0;owned\u0007\u009b31m\u2028'
    const text = lines(format, (log) => log.warn({ session: hostile, deep: { user: hostile } }, hostile))
    expect(text.trimEnd().split(/[\n\r\u2028]/)).toHaveLength(1)
    expect(text.trimEnd()).not.toMatch(/\p{Cc}/u)
    expect(text).toContain('forged')
  })
})
