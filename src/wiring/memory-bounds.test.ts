import { expect, it } from 'vitest'
import { recentItemsBounds, waitingRecordsBytes } from './memory-bounds.ts'

const MB = 1024 * 1024

it('a small heap keeps a part for calls, and a large one does not raise the bounds', () => {
  expect([waitingRecordsBytes(384 * MB), recentItemsBounds(384 * MB).maxChars]).toEqual([96 * MB, 24 * MB])
  expect([waitingRecordsBytes(4_096 * MB), recentItemsBounds(4_096 * MB).maxChars]).toEqual([128 * MB, 32 * MB])
})
