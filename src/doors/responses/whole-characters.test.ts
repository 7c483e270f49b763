import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WholeCharacters, wholeValue } from './whole-characters.ts'

const text = (delta: string, more: { readonly part?: number; readonly key?: string; readonly plain?: boolean } = {}) =>
  ({ type: 'text-delta', key: 'm', delta, ...more }) as const

/** What is written for these deltas of one item. */
function written(deltas: readonly string[]): readonly string[] {
  const characters = new WholeCharacters()
  const out = deltas.flatMap((delta) => {
    const event = text(delta)
    return characters.passes(event) ? [event] : characters.take(event)
  })
  const rest = characters.end('m')
  return [...out, ...(rest === undefined ? [] : [rest])].map((event) => event.delta)
}

describe('deltas', () => {
  it('that end in half a surrogate pair wait for the other half', () => {
    expect(written(['a\ud83d', '\ude00b'])).toEqual(['a', '😀b'])
    expect(written(['\ud83d', '\ude00\ud83d', '\ude00'])).toEqual(['😀', '😀'])
  })

  it('whose other half never comes get a replacement character', () => {
    expect(written(['a\ud83d'])).toEqual(['a', '\ufffd'])
    expect(written(['a\ud83d', 'b'])).toEqual(['a', '\ufffdb'])
    expect(written(['\ude00b', 'c\ud83dd'])).toEqual(['\ufffdb', 'c\ufffdd'])
  })

  it('of other texts and items do not wait', () => {
    const characters = new WholeCharacters()
    expect(characters.take(text('a\ud83d', { part: 0 }))).toEqual([text('a', { part: 0 })])
    expect(characters.passes(text('x', { key: 'n' }))).toBe(true)
    expect(characters.open).toEqual(['m'])
    expect(characters.take(text('b', { part: 1 }))).toEqual([text('\ufffd', { part: 0 }), text('b', { part: 1 })])
    expect(characters.open).toEqual([])
  })

  it('keep their logprobs', () => {
    const characters = new WholeCharacters()
    const [first, second] = ['a', 'b'].map((token) => ({ token, bytes: [], logprob: 0, top_logprobs: [] }))
    expect(characters.take({ ...text('\ud83d'), logprobs: [first!] })).toEqual([])
    expect(characters.take({ ...text('\ude00'), logprobs: [second!] })).toMatchObject([{ delta: '😀', logprobs: [first, second] }])
  })

  it('are well-formed one by one, and together what was sent, wherever it was cut', () => {
    const units = fc.array(fc.oneof(fc.constantFrom('a', '\ud83d', '\ude00', '😀', 'é'), fc.string()), { maxLength: 12 })
    fc.assert(
      fc.property(units, fc.array(fc.nat(20), { maxLength: 6 }), (parts, cuts) => {
        const whole = parts.join('')
        const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length])].toSorted((a, b) => a - b)
        const out = written(places.slice(1).map((end, i) => whole.slice(places[i], end)))
        for (const delta of out) expect(delta.isWellFormed()).toBe(true)
        expect(out.join('')).toBe(whole.toWellFormed())
      }),
    )
  })
})

describe('wholeValue', () => {
  it('returns the same value where nothing is broken, and repairs the rest', () => {
    const whole = { a: ['😀', 1, null], b: { c: 'x' } }
    expect(wholeValue(whole)).toBe(whole)
    expect(wholeValue({ a: ['\ud83d', 1, null], b: { c: 'x' } })).toEqual({ a: ['\ufffd', 1, null], b: { c: 'x' } })
    expect(wholeValue(undefined)).toBeUndefined()
  })
})
