import { describe, expect, it } from 'vitest'
import { cacheAsked } from './cache-marks.ts'

const mark = (ttl?: string): object => ({ prompt_cache_breakpoint: { mode: 'explicit', ...(ttl === undefined ? {} : { ttl }) } })
const message = (...parts: object[]): object => ({ type: 'message', role: 'user', content: parts })

describe('what a request asks a cache for', () => {
  it.each<[string, object, string | undefined]>([
    ['nothing', {}, undefined],
    ['minutes, of all of it', { cache_control: { type: 'ephemeral' } }, 'minutes'],
    ['minutes, in so many words', { cache_control: { type: 'ephemeral', ttl: '5m' } }, 'minutes'],
    ['an hour, of all of it', { cache_control: { type: 'ephemeral', ttl: '1h' } }, 'hour'],
    ['longer than minutes, of marks that do not say', { prompt_cache_options: { mode: 'explicit', ttl: '24h' } }, 'hour'],
    ['minutes, of a part', { input: [message({ type: 'input_text', text: 'a', ...mark() })] }, 'minutes'],
    ['the longest of several parts', { input: [message({ ...mark('1h') }, { ...mark() }), message({ ...mark('5m') })] }, 'hour'],
    ['longer than minutes, of a part', { input: [message({ ...mark('30m') })] }, 'hour'],
    ['an hour, of a tool', { tools: [{ type: 'function', name: 'f', ...mark('1h') }] }, 'hour'],
    ['minutes, of a result', { input: [{ type: 'function_call_output', call_id: 'c', output: [{ ...mark() }] }] }, 'minutes'],
    ['an hour, of a part, where the whole asks for minutes', { cache_control: { type: 'ephemeral' }, input: [message({ ...mark('1h') })] }, 'hour'],
  ])('%s', (_what, fields, life) => {
    expect(cacheAsked({ input: [], ...fields })).toBe(life)
  })
})
