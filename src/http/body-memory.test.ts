import { expect, it } from 'vitest'
import { BodyHold, BodyMemory } from './body-memory.ts'

const MB = 1024 * 1024

function open({ left = 100 * MB, enabled = true } = {}) {
  const asked: number[] = []
  const bodies = new BodyMemory({
    limits: () => ({ enabled, memoryShare: 0.9 }),
    memoryLeft: (share) => {
      asked.push(share)
      return left
    },
  })
  return { bodies, asked, hold: () => new BodyHold(bodies) }
}
const refusal = expect.objectContaining({
  errorType: 'provider_overloaded',
  message: 'The gateway has no memory left for a body of this size at the moment; try again',
  details: { retryAfterMs: 1_000, failover: 'never', headers: { connection: 'close' } },
})

it('bodies are accepted while the free memory is at least three times their size', () => {
  const { bodies, asked, hold } = open()
  const taken = Array.from({ length: 3 }, hold)
  for (const one of taken) one.grow(10 * MB)
  expect(() => hold().grow(10 * MB)).toThrow(refusal)
  hold().grow(3 * MB)
  expect(bodies.refused).toBe(1)
  expect(new Set(asked)).toEqual(new Set([0.9]))
  taken[0]!.release()
  hold().grow(10 * MB)
})

it('the body of a single call is accepted whatever memory is free', () => {
  const { hold } = open({ left: -MB })
  const first = hold()
  first.announce(30 * MB)
  first.grow(10 * MB)
  first.grow(30 * MB)
  expect(() => hold().grow(MB)).toThrow(refusal)
  // What it keeps until its end nobody knows but the process.
  first.sent()
  expect(() => hold().grow(MB)).toThrow(refusal)
  first.release()
  hold().grow(30 * MB)
})

it('a declared length is refused before the body comes, and reserved only when it does', () => {
  const { hold } = open()
  const liars = Array.from({ length: 5 }, hold)
  for (const liar of liars) liar.announce(30 * MB)
  hold().grow(20 * MB)
  expect(() => hold().announce(20 * MB)).toThrow(refusal)
  hold().announce(10 * MB)
})

it('a body reserves less once it is read, and nothing twice', () => {
  const { hold } = open()
  const first = hold()
  first.grow(30 * MB)
  expect(() => hold().grow(20 * MB)).toThrow(refusal)
  first.read()
  hold().grow(20 * MB)
  first.sent()
  first.release()
  first.release()
  hold().grow(13 * MB)
  expect(() => hold().grow(MB)).toThrow(refusal)
})

it('a body that grows in small pieces is checked once a megabyte, and a small one never', () => {
  const { asked, hold } = open()
  hold().grow(MB)
  const growing = hold()
  for (let bytes = 0; bytes <= 4 * MB; bytes += 16 * 1024) growing.grow(bytes)
  expect(asked).toHaveLength(4)
  const { asked: never, hold: another } = open({ left: 0 })
  another().grow(MB)
  another().announce(200_000)
  another().grow(200_000)
  expect(never).toEqual([])
})

it('nothing is refused where overload protection is switched off', () => {
  const { hold } = open({ left: 0, enabled: false })
  hold().grow(30 * MB)
  hold().grow(30 * MB)
})
