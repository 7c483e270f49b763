import { describe, expect, it } from 'vitest'
import { gathered, type Note } from './notes.ts'

const note = (path: string, message = 'm'): Note => ({ kind: 'do', path, message })

describe('notes', () => {
  it('that say the same of several entries are one', () => {
    const paths = [0, 2, 3, 4, 7, 8].map((index) => note(`list[${index}].a[1].b`))
    expect(gathered([...paths, note('list[1].a', 'n'), note('other')]).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'list[0,2-4,7,8].a[1].b: m',
      'list[1].a: n',
      'other: m',
    ])
  })
})
