import { describe, expect, it } from 'vitest'
import { stopSequences } from './stop-sequences.ts'
import type { StopRule } from './stop-sequences.ts'

describe('stop sequences', () => {
  it.each<[unknown, StopRule, readonly string[], readonly string[]]>([
    [undefined, {}, [], []],
    ['', {}, [], []],
    ['a', {}, ['a'], []],
    [['a', '', 1, '\n'], {}, ['a', '\n'], []],
    [['a', ' ', '\n'], { blank: false }, ['a'], ['stop: white space']],
    [['a', '', 'b', 'c'], { max: 2 }, ['a', 'b'], ['stop: only the first 2']],
    [['', 'a', 'b'], { max: 2 }, ['a', 'b'], []],
  ])('%j under %j', (stop, rule, sent, named) => {
    const dropped: string[] = []
    expect(stopSequences({ input: [], stop }, rule, dropped)).toEqual(sent)
    expect(dropped).toEqual(named)
  })
})
