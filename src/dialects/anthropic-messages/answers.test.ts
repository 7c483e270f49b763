import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { messagesTarget } from './__fixtures__/target.ts'
import { anthropicMessages } from './index.ts'

const folder = join(import.meta.dirname, '__fixtures__/answers')

/** The events of an answer, and the error that ended it, if any. */
function decode(bytes: Buffer, cut: number): string[] {
  const out: ModelEvent[] = []
  const decoder = anthropicMessages.decoder({ input: [] }, messagesTarget())
  const parser = createSseParser((data, event) => decoder.push(data, event, out))
  const lines = (): string[] => out.map((event) => JSON.stringify(event))
  try {
    for (let at = 0; at < bytes.length; at += cut) parser.push(bytes.subarray(at, at + cut))
    parser.end()
    decoder.end(out)
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return [
      ...lines(),
      JSON.stringify({ error: error.errorType, failover: error.failover, message: error.message, code: error.details.providerCode }),
    ]
  }
  checkEventBalance(out)
  return lines()
}

describe('answers, by golden file', () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith('.sse')))('%s', async (name) => {
    const bytes = readFileSync(join(folder, name))
    const whole = decode(bytes, bytes.length)
    for (const cut of [1, 5, 33]) expect(decode(bytes, cut)).toEqual(whole)
    await expect(`${whole.join('\n')}\n`).toMatchFileSnapshot(join(folder, name.replace('.sse', '.events.jsonl')))
  })

  it.each(readdirSync(folder).filter((name) => name.endsWith('.error.json')))('%s', async (name) => {
    const { status, headers, body } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      status: number
      headers: Record<string, string>
      body: unknown
    }
    const error = anthropicMessages.decodeError(status, headers, JSON.stringify(body), messagesTarget())
    const { errorType, failover, message, details } = error
    const seen = {
      errorType,
      failover,
      message,
      code: details.providerCode,
      metadata: details.metadata,
      retryAfterMs: details.retryAfterMs,
      credentialDead: details.credentialDead,
    }
    await expect(`${JSON.stringify(seen, undefined, 2)}\n`).toMatchFileSnapshot(join(folder, name.replace('.error.json', '.golden.json')))
  })
})
