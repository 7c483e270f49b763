import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { chatTarget } from './__fixtures__/target.ts'
import { openAiChat } from './index.ts'

const folder = join(import.meta.dirname, '__fixtures__/answers')

describe('answers, by golden file', () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith('.sse')))('%s', async (name) => {
    const out: ModelEvent[] = []
    const decoder = openAiChat.decoder({ input: [] }, chatTarget({ options: { reasoning_replay: 'reasoning_content' } }))
    const parser = createSseParser((data, event) => decoder.push(data, event, out))
    let failed = ''
    try {
      parser.push(readFileSync(join(folder, name)))
      parser.end()
      decoder.end(out)
      checkEventBalance(out)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      failed = `failed: ${error.errorType} (${error.failover}) ${error.message}\n`
    }
    await expect(`${out.map((event) => JSON.stringify(event)).join('\n')}\n${failed}`).toMatchFileSnapshot(
      join(folder, name.replace('.sse', '.events.jsonl')),
    )
  })
})
