import { describe, expect, it } from 'vitest'
import { listSteps } from '../../testing/list-steps.ts'
import { createToolNames } from './tool-names.ts'

const RULE = { pattern: /^[a-zA-Z0-9_-]{1,64}$/, max: 64 }

describe('the beginning of a name', () => {
  it('is told from a whole name and from what begins none', () => {
    const names = createToolNames(RULE)
    for (const name of ['look_up', 'answer', 'look', 'Zoom']) names.upstream(name, undefined)
    const begun = ['l', 'lo', 'look', 'look_', 'look_up', 'look_up2', 'a', 'b', 'Zo', 'z', ''].filter((text) => names.begins(text))
    expect(begun).toEqual(['l', 'lo', 'look_', 'a', 'Zo', ''])
    names.upstream('both', undefined)
    expect(names.begins('b')).toBe(true)
  })
  it('is found without a walk through all names for each piece of a call', () => {
    const names = createToolNames(RULE)
    for (let n = 0; n < 200; n++) names.upstream(`f${n}`, undefined)
    const asked = listSteps(() => {
      for (let n = 0; n < 200; n++) names.begins(`g${n}`)
    })
    expect(asked).toBeLessThan(1_000)
  })
})
