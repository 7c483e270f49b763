import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../core/dialect.ts'
import { openAiChat } from '../openai-chat/index.ts'
import { openAiResponses } from '../openai-responses/index.ts'

const FIELDS = ['user', 'safety_identifier', 'prompt_cache_key'] as const
/** As an agent names its user: account, session and all. */
const LONG = `user_${'0a'.repeat(32)}_account__session_01234567-89ab-4cde-8f01-23456789abcd`

describe.each<[Dialect, object]>([
  [openAiChat, { forward: FIELDS }],
  [openAiResponses, {}],
])('names of the caller in $name', (dialect, own) => {
  const sent = (name: string, options: object = {}): unknown[] => {
    const request = { input: [{ type: 'message', role: 'user', content: 'q' }], user: name, safety_identifier: name, prompt_cache_key: name } as const
    const { body, dropped } = dialect.encodeRequest(request, {
      provider: 'acme',
      providerName: 'Acme',
      upstreamModel: 'small-1',
      options: dialect.options.parse({ ...own, ...options }),
      supports: new Set(dialect.supports),
      contextLength: 128_000,
      scope: 'acme/main',
      stream: true,
    })
    expect(dropped).toEqual([])
    const fields = JSON.parse(body) as Record<string, unknown>
    return FIELDS.map((field) => fields[field])
  }

  it('are sent unchanged where they fit', () => {
    for (const name of ['', 'user-17', 'x'.repeat(64)]) expect(sent(name)).toEqual([name, name, name])
    expect(sent(LONG, { max_user_length: LONG.length })).toEqual([LONG, LONG, LONG])
  })

  it('are sent as a hash where the call would be refused, the same name always as the same hash', () => {
    const [hash, ...others] = sent(LONG)
    expect(hash).toMatch(/^[0-9A-Za-z]{32}$/)
    expect(others).toEqual([hash, hash])
    expect(sent(LONG)[0]).toBe(hash)
    expect(sent(`${LONG}0`)[0]).not.toBe(hash)
  })
})
