import { describe, expect, it } from 'vitest'
import { manualClock } from '../testing/deterministic.ts'
import { LOOK_MS, WorkerWatch } from './worker-watch.ts'

/** Processes by id; those in `mute` do not answer. */
function stage(...mute: readonly number[]) {
  const clock = manualClock()
  const watch = new WorkerWatch(clock)
  const asked: number[] = []
  const worker = (id: number) => ({
    id,
    ask: () => {
      asked.push(id)
      if (!mute.includes(id)) watch.heard(id)
    },
  })
  return {
    asked,
    watch,
    /** Looks for so long; whoever was found silent, with the second it was. */
    look(seconds: number, ids: readonly number[], every = LOOK_MS): (readonly [number, number])[] {
      const found: (readonly [number, number])[] = []
      for (let ms = every; ms <= seconds * 1_000; ms += every) {
        clock.advance(every)
        for (const id of watch.look(ids.map(worker))) found.push([id, ms / 1_000])
      }
      return found
    },
  }
}

describe('a process that serves', () => {
  it('is asked again and again, and left alone while it answers', () => {
    const { look, asked } = stage()
    expect(look(120, [1, 2])).toEqual([])
    expect(asked).toHaveLength(120)
  })

  it('and does not answer for half a minute is reported once', () => {
    const { look, asked } = stage(2)
    expect(look(120, [1, 2])).toEqual([[2, 32]])
    expect(asked.filter((id) => id === 2)).toHaveLength(1)
  })

  it('gets the full time again after any message', () => {
    const { look, watch } = stage(1)
    expect(look(20, [1])).toEqual([])
    watch.heard(1)
    expect(look(30, [1])).toEqual([])
    expect(look(2, [1])).toEqual([[1, 2]])
  })

  it('is not blamed for a pause of the whole machine', () => {
    const { look } = stage(1)
    expect(look(20, [1])).toEqual([])
    expect(look(600, [1], 600_000)).toEqual([])
    expect(look(28, [1])).toEqual([])
    expect(look(2, [1])).toEqual([[1, 2]])
  })

  it('is watched anew after it was replaced', () => {
    const { look } = stage(1)
    expect(look(28, [1])).toEqual([])
    expect(look(2, [])).toEqual([])
    expect(look(28, [1])).toEqual([])
  })
})
