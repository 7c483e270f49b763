import { describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { healJson } from './heal-json.ts'
import { threadTime } from '../../testing/thread-time.ts'

const FENCE = '```'

describe('texts made to be slow to repair', () => {
  const N = 200_000
  it.each<[string, string]>([
    ['blanks inside a fence that never closes', `${FENCE}json\n{"a": 1,${' '.repeat(N)}x`],
    ['blanks in a string', `{"a": "${' '.repeat(N)}x`],
    ['blanks behind a fence', `${FENCE}${' '.repeat(N)}x {`],
    ['lines of blanks before a last fence', `{"a": 1,${' \n'.repeat(N / 2)}x${FENCE}`],
    ['nothing but fences', `{${FENCE.repeat(N)}`],
    ['fences and one end of a line, far away', `${`${FENCE}x y `.repeat(N)}\n`],
    ['quotes', `{${'"'.repeat(N)}`],
    ['backquotes', `{ ${'`'.repeat(N)}''`],
    ['quotes between letters, then blanks', `["${'a"'.repeat(N)}${' '.repeat(N)}`],
    ['numbers without commas', `[${'1\n'.repeat(N)}`],
    ['brackets in strings', `["${'a["]'.repeat(N)}`],
    ['objects inside each other', '{"a":'.repeat(N)],
    ['many fences with something broken in each', `${FENCE}\n{a""""b\n${FENCE}\n`.repeat(N / 20)],
  ])('%s do not', (_what, text) => {
    const started = threadTime()
    healJson(text, undefined)
    // Fifty milliseconds plus the time to read a text of that length; without a bound some of these take minutes.
    expect(threadTime() - started).toBeLessThan(500)
  })
})

describe('a schema made to be slow', () => {
  it(verifies('B8', 'ends in time, and so does the repair'), () => {
    const definitions: Record<string, object> = { d21: { type: 'string' } }
    for (let n = 0; n < 21; n++) definitions[`d${n}`] = { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }
    const started = threadTime()
    expect(healJson('{a: 1}', { $defs: definitions, $ref: '#/$defs/d0' })).toBeUndefined()
    expect(threadTime() - started).toBeLessThan(800)
    expect(healJson('{a: 1}', { type: 'object', properties: { a: { type: 'integer' } } })).toBe('{"a": 1}')
  })
})

describe('long texts', () => {
  it('are healed', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => ({ n, name: `a row of some length, number ${n}` }))
    const whole = JSON.stringify({ rows })
    // Given up after fifty milliseconds of wall-clock time, which a busy machine may give to other processes.
    const heals = (text: string) => expect.poll(() => healJson(text, undefined), { timeout: 10_000 }).toBe(whole)
    await heals(`Here:\n${FENCE}json\n${whole}\n${FENCE}\n`)
    await heals(`${whole.slice(0, -1)},}`)
  })
})

describe('a fence', () => {
  it.each<[string, string]>([
    ['with a language and blanks around it', `${FENCE} json \t\n{"a": 1}\n  ${FENCE}`],
    ['that closes on the line of the text', `${FENCE}\n{"a": 1}${FENCE}`],
    ['of four marks', `${FENCE}\`json\n{"a": 1}\n${FENCE}\``],
    ['after marks that are none', `Use ${FENCE} as marks, {so}:\n${FENCE}json\n{"a": 1}\n${FENCE}`],
    ['after an empty one', `${FENCE}\n${FENCE}\n${FENCE}\n{"a": 1}\n${FENCE}`],
    ['with Windows line ends', `${FENCE}json\r\n{"a": 1}\r\n${FENCE}`],
  ])('%s is read', (_what, text) => {
    expect(healJson(text, undefined)).toBe('{"a": 1}')
  })
})
