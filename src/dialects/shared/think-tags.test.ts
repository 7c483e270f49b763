import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textSteps } from '../../testing/text-steps.ts'
import { ThinkSplitter } from './think-tags.ts'
import type { ThinkTags } from './think-tags.ts'

// The same cases in every run: a failure must not depend on luck.
fc.configureGlobal({ seed: 20260301 })

function split(mode: ThinkTags, pieces: readonly string[]): { text: string; reasoning: string } {
  const seen = { text: '', reasoning: '' }
  const splitter = new ThinkSplitter(mode)
  const sink = (kind: 'text' | 'reasoning', text: string): void => {
    expect(text).not.toBe('')
    seen[kind] += text
  }
  for (const piece of pieces) if (piece !== '') splitter.push(piece, sink)
  splitter.end(sink)
  return seen
}

const cases: readonly [name: string, mode: ThinkTags, content: string, reasoning: string, text: string][] = [
  ['a block at the start', 'tags', '<think>\nwhy\n</think>\n\nanswer', 'why', 'answer'],
  ['whitespace before the block', 'tags', '\n<think>why</think>answer', 'why', 'answer'],
  ['two blocks', 'tags', '<think>a</think>\n<think>b</think>c', 'ab', 'c'],
  ['an empty block', 'tags', '<think>\n\n</think>\n\nanswer', '', 'answer'],
  ['the long spelling', 'tags', '<thinking>why</thinking>answer', 'why', 'answer'],
  ['no block', 'tags', ' answer', '', ' answer'],
  ['something that looks like one', 'tags', '<thin air>', '', '<thin air>'],
  ['the tag inside the answer stays', 'tags', 'use <think>x</think> here', '', 'use <think>x</think> here'],
  ['a block cut off', 'tags', '<think>why', 'why', ''],
  ['a partial tag at the end', 'tags', '<thi', '', '<thi'],
  ['a partial closing tag inside', 'tags', '<think>a </thi b</think>c', 'a </thi b', 'c'],
  ['the template wrote the opening tag', 'open-omitted', 'why\n</think>\n\nanswer', 'why', 'answer'],
  ['the template did not after all', 'open-omitted', '<think>why</think>answer', 'why', 'answer'],
  ['the end of thoughts that were told elsewhere', 'tags', '</think>\n\nanswer', '', 'answer'],
  ['the end of nothing, behind a block', 'tags', '<think>why</think>\n</think>answer', 'why', 'answer'],
  ['the end of nothing, in the answer', 'tags', 'so: </think>', '', 'so: </think>'],
  ['what looks like an end', 'tags', '</thin air>', '', '</thin air>'],
  ['off', 'none', '<think>why</think>answer', '', '<think>why</think>answer'],
  ['only whitespace', 'tags', '\n ', '', '\n '],
  ['as Magistral writes them', 'tags', '[THINK]why[/THINK]\nanswer', 'why', 'answer'],
  ['as Seed-OSS writes them', 'tags', '<seed:think>why</seed:think>answer', 'why', 'answer'],
  ['as EXAONE and Gemini write them', 'tags', '<thought>why</thought>answer', 'why', 'answer'],
  ['as LongCat writes them', 'tags', '<longcat_think>why</longcat_think>answer', 'why', 'answer'],
  ['as Kimi writes them', 'tags', '◁think▷why◁/think▷answer', 'why', 'answer'],
  ['a list, which is none of them', 'tags', '[1, 2]', '', '[1, 2]'],
]

describe('splitting think tags', () => {
  it.each(cases)('%s', (_name, mode, content, reasoning, text) => {
    expect(split(mode, [content])).toEqual({ reasoning, text })
    expect(split(mode, [...content])).toEqual({ reasoning, text })
  })

  it('does not depend on where the stream is cut', () => {
    const piece = fc.constantFrom('<think>', '</think>', '<', 'th', 'ink>', '/', ' ', '\n', 'a', 'b<', '>', '<thinking>', '</thinking>')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom<ThinkTags>('none', 'tags', 'open-omitted'), (pieces, mode) => {
        expect(split(mode, pieces)).toEqual(split(mode, [pieces.join('')]))
        expect(split(mode, [...pieces.join('')])).toEqual(split(mode, [pieces.join('')]))
      }),
    )
  })

  it.each<readonly [where: string, mode: ThinkTags, beginning: string]>([
    ['before anything else', 'tags', ''],
    ['where the template wrote the opening tag', 'open-omitted', ''],
    ['in the reasoning', 'tags', '<think>a'],
    ['before the answer', 'tags', '<think>a</think>'],
  ])('reads white space without end once, %s', (_where, mode, beginning) => {
    const stepsFor = (count: number): number =>
      textSteps(() => {
        const splitter = new ThinkSplitter(mode)
        for (const piece of [beginning, ...Array<string>(count).fill(' \n'), 'b']) {
          splitter.push(piece, () => {})
          void splitter.holdsText
        }
      })
    expect(stepsFor(2_000)).toBeLessThan(5 * stepsFor(500))
  })

  it('says when text passes unchanged', () => {
    const splitter = new ThinkSplitter('tags')
    expect(splitter.passing).toBe(false)
    splitter.push('hi', () => {})
    expect(splitter.passing).toBe(true)
  })
})
