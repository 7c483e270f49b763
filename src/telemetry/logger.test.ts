import { describe, expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { createLogger } from './logger.ts'

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

  it.each(['json', 'pretty'] as const)('shows no credential in %s lines, whatever text carries it', (format) => {
    const canary = 'CANARY0123456789abcdef'
    const text = lines(format, (log) => {
      log.error({ error: new Error(`GET https://x/y?key=${canary} failed`) }, `Authorization: Bearer ${canary}`)
      log.warn({ key: new Secret(canary), note: `used sk-${canary}` }, 'x')
    })
    expect(text).not.toContain(canary)
    expect(text).toContain('[redacted]')
  })
})
