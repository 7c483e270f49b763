import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dialects } from '../src/dialects/index.ts'
import { FEATURES, NONE, type Cells } from './dialect-cells/cell.ts'
import { CELLS } from './dialect-cells/index.ts'
import { dialectsPage, findGaps } from './gen-dialects.ts'

describe('the table of formats', () => {
  it('has a test for every cell, and none that does not exist', () => {
    expect(findGaps()).toEqual([])
  })

  it('is what the page says', () => {
    expect(readFileSync(new URL('../docs/reference/dialects.md', import.meta.url), 'utf8')).toBe(dialectsPage())
  })

  it('leads every cell to its tests', () => {
    const page = dialectsPage()
    const linked = [...page.matchAll(/\]\(#([a-z0-9-]+)\)/g)].map(([, id]) => id)
    const anchors = new Set([...page.matchAll(/<a id="([a-z0-9-]+)">/g)].map(([, id]) => id))
    expect(linked).toHaveLength(Object.keys(FEATURES).length * Object.keys(CELLS).length)
    expect(linked.filter((id) => !anchors.has(id))).toEqual([])
  })

  it('describes the options of every format', () => {
    const page = dialectsPage()
    for (const name of Object.keys(CELLS)) expect(page).toContain(`### Options of \`${name}\``)
    expect(page).toContain('| `max_tokens_field` | `max_tokens` |')
  })
})

describe('gaps', () => {
  const chat = CELLS['openai-chat']!
  const gapsOf = (cells: Partial<Cells>): string[] => findGaps({ ...CELLS, 'openai-chat': { ...chat, ...cells } })
  it('are tests that are gone', () => {
    expect(gapsOf({ tools: ['functions', 'stream: no such group > no such test'] })).toEqual([
      'openai-chat, tools: no test "no such group > no such test" in src/dialects/openai-chat/stream.test.ts',
    ])
  })
  it('are cells without a test, whether the format can or not', () => {
    expect(gapsOf({ builtin_tools: [NONE, 'left out'] })).toEqual(['openai-chat, builtin_tools: names no test'])
  })
  it('are cells that say no where the dialect declares support', () => {
    expect(gapsOf({ tools: [NONE, 'left out', 'request: tool choice'] })).toEqual([
      'openai-chat declares tools, and its cell tools says it lacks it',
      'openai-chat declares tool_choice, and its cell tools says it lacks it',
    ])
  })
  it('are formats nobody wrote cells for', () => {
    const { gemini: _, ...rest } = CELLS
    expect(findGaps(rest)).toEqual(['gemini has no cells'])
    expect(dialects.has('gemini')).toBe(true)
  })
})
