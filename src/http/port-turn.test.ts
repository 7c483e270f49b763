import { describe, expect, it } from 'vitest'
import { takeTurn } from './port-turn.ts'

describe.runIf(process.platform === 'linux')('a turn at opening a port', () => {
  it('comes when the one before has ended', async () => {
    const order: string[] = []
    const first = await takeTurn(1)
    const second = takeTurn(1).then((end) => (order.push('second'), end))
    const other = await takeTurn(2)
    order.push('another port')
    setTimeout(() => {
      order.push('first has ended')
      first()
    }, 120)
    const end = await second
    expect(order).toEqual(['another port', 'first has ended', 'second'])
    end()
    other()
  })

  it('is not waited for without an end', async () => {
    const first = await takeTurn(1)
    const second = await takeTurn(1, 0)
    second()
    first()
  })
})
