import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import { createSseParser } from '../../lib/sse.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { emptyRequest, target } from './__fixtures__/harness.ts'
import type { TargetParts } from './__fixtures__/harness.ts'
import { openAiResponses } from './index.ts'

const folder = join(import.meta.dirname, '__fixtures__')
const named = (kind: string, ending: string): string[] =>
  readdirSync(join(folder, kind)).filter((name) => name.endsWith(ending) && !name.includes('.golden.'))
const json = (value: unknown): string => `${JSON.stringify(value, undefined, 1)}\n`

describe('golden encodings', () => {
  it.each(named('requests', '.json'))('%s', async (name) => {
    const { target: parts, request } = JSON.parse(readFileSync(join(folder, 'requests', name), 'utf8')) as {
      readonly target: TargetParts
      readonly request: ModelRequest
    }
    const { body, ...encoded } = openAiResponses.encodeRequest(request, target(parts))
    await expect(json({ ...encoded, body: JSON.parse(body) as unknown })).toMatchFileSnapshot(
      join(folder, 'requests', name.replace(/\.json$/, '.golden.json')),
    )
  })
})

/** Events as text, one per line. Raw usage is left out, because it repeats the fixture. */
function trace(bytes: Buffer): string {
  const decoder = openAiResponses.decoder(emptyRequest, target())
  const events: ModelEvent[] = []
  const lines: string[] = []
  try {
    const parser = createSseParser((data, event) => decoder.push(data, event, events))
    parser.push(bytes)
    parser.end()
    decoder.end(events)
    checkEventBalance(events)
  } catch (error) {
    if (!isGatewayError(error)) throw error
    lines.push(JSON.stringify({ thrown: error.errorType, message: error.message, code: error.details.providerCode, failover: error.failover }))
  }
  return `${[...events.map((event) => JSON.stringify(event, (key, value: unknown) => (key === 'raw' ? undefined : value))), ...lines].join('\n')}\n`
}

describe('golden traces', () => {
  it.each(named('streams', '.sse'))('%s', async (name) => {
    const bytes = readFileSync(join(folder, 'streams', name))
    await expect(trace(bytes)).toMatchFileSnapshot(join(folder, 'streams', name.replace(/\.sse$/, '.golden.jsonl')))
  })
})
