import { describe, expect, it } from 'vitest'
import { describeDialectContract } from '../testing/dialect-contract/index.ts'
import { VENDOR_VOICES } from '../testing/vendor-voices.ts'
import { answerDialects, dialects } from './index.ts'

/** Formats that only wrap another's frames; their own tests compare them with it. */
const WRAPPERS: ReadonlySet<string> = new Set(['anthropic-invoke'])

describe.each([...VENDOR_VOICES.values()].map((voice) => [voice.dialect, voice] as const))('%s', (name, voice) => {
  describeDialectContract(dialects.get(name)!, voice)
})

it('every format is held to the contract', () => {
  expect(answerDialects.map(({ name }) => name).filter((name) => !VENDOR_VOICES.has(name) && !WRAPPERS.has(name))).toEqual([])
})
