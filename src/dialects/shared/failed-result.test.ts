import { expect, it } from 'vitest'
import type { ContentPart } from './content-parts.ts'
import { failureOf } from './failed-result.ts'

const text = (value: string): ContentPart => ({ type: 'input_text', text: value })
const image: ContentPart = { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' }
const word = text('Error:')

it.each<readonly [string, object, readonly ContentPart[], object]>([
  ['that succeeded', {}, [word, text('no')], { failed: false, parts: [word, text('no')] }],
  ['that failed', { failed: true }, [word, text('no')], { failed: true, parts: [text('no')] }],
  ['that failed, in words of its own', { failed: true }, [text('no')], { failed: true, parts: [text('no')] }],
  ['that failed without words', { failed: true }, [word], { failed: true, parts: [word] }],
  ['that failed with white space', { failed: true }, [word, text(' ')], { failed: true, parts: [word, text(' ')] }],
  ['that failed and shows something', { failed: true }, [word, text('no'), image], { failed: false, parts: [word, text('no'), image] }],
  ['that is not there', { missing: true }, [text('none')], { failed: true, parts: [text('none')] }],
])('a result %s is marked as failed', (_name, more, parts, told) => {
  expect(failureOf({ callId: 'c', name: 'f', parts, missing: false, failed: false, ...more })).toEqual(told)
})
