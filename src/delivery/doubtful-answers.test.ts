import { describe, expect, it } from 'vitest'
import { createDoubtfulAnswers } from './doubtful-answers.ts'

describe('doubtful answers', () => {
  it('are counted separately for each delivery, until it is forgotten', () => {
    const answers = createDoubtfulAnswers()
    expect([answers.add('a'), answers.add('a'), answers.add('b')]).toEqual([1, 2, 1])
    answers.forget('a')
    expect([answers.add('a'), answers.add('b')]).toEqual([1, 2])
  })

  it('are remembered for a bounded number of deliveries, the oldest answers being forgotten first', () => {
    const answers = createDoubtfulAnswers(2)
    for (const id of ['a', 'b', 'a', 'c']) answers.add(id)
    expect([answers.add('a'), answers.add('b')]).toEqual([3, 1])
  })
})
