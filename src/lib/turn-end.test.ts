import { describe, expect, it } from 'vitest'
import { atTurnEnd } from './turn-end.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('the end of a turn', () => {
  it('comes after everything the turn brought, in the order it was asked for', async () => {
    const order: string[] = []
    atTurnEnd(() => order.push('first'))
    process.nextTick(() => {
      order.push('tick')
      atTurnEnd(() => order.push('second'))
    })
    await Promise.resolve()
    order.push('microtask')
    await turn()
    expect(order).toEqual(['microtask', 'tick', 'first', 'second'])
  })

  it('resumes all waiting callers before any of them takes a further step', async () => {
    const steps: string[] = []
    const call = async (name: string): Promise<void> => {
      await new Promise<void>(atTurnEnd)
      steps.push(`${name}1`)
      await Promise.resolve()
      steps.push(`${name}2`)
    }
    await Promise.all([call('a'), call('b')])
    expect(steps).toEqual(['a1', 'b1', 'a2', 'b2'])
  })

  it('is reached by a few at a time: of many the first are done before the last begin', async () => {
    const steps: number[] = []
    const call = async (n: number): Promise<void> => {
      await new Promise<void>(atTurnEnd)
      steps.push(n)
      await Promise.resolve()
      steps.push(-n)
    }
    await Promise.all(Array.from({ length: 100 }, (_, n) => call(n + 1)))
    expect(steps).toHaveLength(200)
    const underWay = steps.map((_, at) => steps.slice(0, at + 1).filter((n) => n > 0).length - steps.slice(0, at + 1).filter((n) => n < 0).length)
    expect(Math.max(...underWay)).toBe(32)
    expect(steps.filter((n) => n > 0)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
  })

  it('resumes all callers, whatever one of them throws', async () => {
    const thrown: unknown[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (error) => thrown.push(error))
    const order: string[] = []
    atTurnEnd(() => {
      throw new Error('mine')
    })
    atTurnEnd(() => order.push('second'))
    await turn()
    await turn()
    for (const listener of listeners) process.on('uncaughtException', listener)
    expect([order, thrown]).toEqual([['second'], [new Error('mine')]])
  })

  it('is the next one for work that is deferred at the end of a turn', async () => {
    const order: string[] = []
    atTurnEnd(() => {
      order.push('one')
      atTurnEnd(() => order.push('three'))
    })
    atTurnEnd(() => order.push('two'))
    await turn()
    expect(order).toEqual(['one', 'two'])
    await turn()
    expect(order).toEqual(['one', 'two', 'three'])
  })
})
