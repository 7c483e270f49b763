import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { geminiTarget } from './__fixtures__/target.ts'
import { gemini } from './index.ts'

const folder = join(import.meta.dirname, '__fixtures__/answers')

describe('answers, by golden file', () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith('.sse')))('%s', async (name) => {
    const out: ModelEvent[] = []
    const decoder = gemini.decoder({ input: [], tools: [{ type: 'function', name: 'get_weather' }] }, geminiTarget())
    const parser = createSseParser((data, event) => decoder.push(data, event, out))
    let end = ''
    try {
      parser.push(readFileSync(join(folder, name)))
      parser.end()
      decoder.end(out)
      checkEventBalance(out)
    } catch (error) {
      if (!isGatewayError(error)) throw error
      const { errorType, publicCode, failover, message } = error
      end = `${JSON.stringify({ errorType, publicCode, failover, message })}\n`
    }
    await expect(`${out.map((event) => JSON.stringify(event)).join('\n')}\n${end}`).toMatchFileSnapshot(
      join(folder, name.replace('.sse', '.events.jsonl')),
    )
  })
})
