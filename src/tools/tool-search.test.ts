import { describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import type { ToolContext } from '../core/extension.ts'
import type { FunctionTool } from '../core/item.ts'
import { systemClock } from '../lib/clock.ts'
import { testCall } from '../testing/plugin-context.ts'
import { threadTime } from '../testing/thread-time.ts'
import { toolSearch } from './tool-search.ts'

const tool = (name: string, description?: string, parameters?: FunctionTool['parameters']): FunctionTool => ({
  type: 'function',
  name,
  ...(description === undefined ? {} : { description }),
  ...(parameters === undefined ? {} : { parameters }),
})

function search(query: string, deferred: readonly FunctionTool[], signal = new AbortController().signal) {
  const context = { settings: { max_results: 2 }, deferred, call: { ...testCall(), clock: systemClock }, signal }
  return toolSearch.execute({ query }, context as unknown as ToolContext<{ max_results: number }>)
}

const TOOLS = [
  tool('get_forecast', 'Weather of the coming days'),
  tool('send_mail', 'Sends a letter'),
  tool('find_place', 'Coordinates', { type: 'object', properties: { town: { type: 'string', description: 'Where the WEATHER is wanted' } } }),
  tool('weather_now'),
]

describe('a search of tools', () => {
  it('looks at names, descriptions and arguments, whatever their case, and stops when it has enough', async () => {
    expect((await search('weather', TOOLS)).reveal).toEqual(['get_forecast', 'find_place'])
    expect((await search('^(SEND|get)_', TOOLS)).reveal).toEqual(['get_forecast', 'send_mail'])
    expect((await search('x*', TOOLS)).reveal).toEqual(['get_forecast', 'send_mail'])
    expect((await search('elephant', TOOLS)).reveal).toEqual([])
  })

  it('reports an invalid query', async () => {
    expect((await search('(', TOOLS)).error).toMatchObject({ type: 'invalid_arguments', message: expect.stringContaining('not a valid') })
  })

  it.each([900, 400])(verifies('B7', 'aborts a pattern that would block the process (%i repetitions)'), async (times) => {
    let text = ''
    for (let i = 0; i < 20_000; i++) text += (i * 7919) % 13 > 6 ? 'a' : 'b'
    const began = threadTime()
    const { error } = await search(
      `[ab]*b[ab]{${times}}[^ab]`,
      Array.from({ length: 20 }, (_, n) => tool(`f${n}`, text)),
    )
    expect(threadTime() - began).toBeLessThan(2_000)
    expect(error).toMatchObject({ message: expect.stringContaining('simpler') })
  })
})
