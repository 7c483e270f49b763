import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import { createAwsEventStreamParser } from '../../lib/aws-event-stream.ts'
import { awsEvent, awsException } from '../../testing/aws-frames.ts'
import { checkEventBalance } from '../../testing/event-balance.ts'
import { bedrockTarget } from './__fixtures__/target.ts'
import { bedrockConverse } from './index.ts'

const folder = join(import.meta.dirname, '__fixtures__/answers')

/** Fixtures hold one frame per line, `<event type> <payload>`; exceptions as `!<exception type> <payload>`. */
function frames(name: string): Buffer {
  const lines = readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
  return Buffer.concat(
    lines.map((line) => {
      const space = line.indexOf(' ')
      const payload: unknown = JSON.parse(line.slice(space + 1))
      return line.startsWith('!') ? awsException(line.slice(1, space), payload) : awsEvent(line.slice(0, space), payload)
    }),
  )
}

function decode(bytes: Buffer): string[] {
  const out: ModelEvent[] = []
  const decoder = bedrockConverse.decoder({ input: [] }, bedrockTarget())
  const parser = createAwsEventStreamParser((data, event) => decoder.push(data, event, out))
  try {
    parser.push(bytes)
    parser.end()
    if (!decoder.finished) decoder.end(out)
    checkEventBalance(out)
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return [...out.map((event) => JSON.stringify(event)), `failed: ${error.errorType} (${error.failover}) ${error.message}`]
  }
  return out.map((event) => JSON.stringify(event))
}

describe('answers, by golden file', () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith('.frames')))('%s', async (name) => {
    await expect(`${decode(frames(name)).join('\n')}\n`).toMatchFileSnapshot(join(folder, name.replace('.frames', '.events.jsonl')))
  })
})
