import { expect, it } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { createRememberedCopy } from './remembered-copy.ts'

it('a copy is read again after an outage even if the version is the same, because another database may answer', async () => {
  let isAway = false
  let text = 'of the first'
  const installed: string[] = []
  const copy = createRememberedCopy<string>({
    version: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(7)),
    load: () => Promise.resolve(text),
    install: (known) => void installed.push(known),
    lastKnownGood: undefined,
    clock: systemClock,
    pollMs: 3_600_000,
  })
  await copy.start()
  await copy.refresh()
  isAway = true
  await expect(copy.refresh()).rejects.toThrow('away')
  isAway = false
  text = 'of the second'
  await copy.refresh()
  await copy.refresh()
  expect(installed).toEqual(['of the first', 'of the second'])
  await copy.close()
})

it('a start that knows that the database is down does not wait for it: the last known state is in force at once', async () => {
  const answer = Promise.withResolvers<number>()
  const installed: string[] = []
  const copy = createRememberedCopy<string>({
    version: () => answer.promise,
    load: () => Promise.resolve('of the database'),
    install: (known) => void installed.push(known),
    lastKnownGood: { read: () => Promise.resolve('last known'), write: () => Promise.resolve() },
    clock: systemClock,
    pollMs: 3_600_000,
  })
  await copy.start({ databaseIsAway: true })
  expect([installed, copy.current]).toEqual([['last known'], false])
  answer.resolve(1)
  await expect.poll(() => installed).toEqual(['last known', 'of the database'])
  await copy.close()
})

it('a last known state that is still being prepared when the database answers is never put in force', async () => {
  const answer = Promise.withResolvers<number>()
  const prepared = Promise.withResolvers<void>()
  const inForce: string[] = []
  const copy = createRememberedCopy<string>({
    version: () => answer.promise,
    load: () => Promise.resolve('of the database'),
    install: async (known) => {
      if (known === 'last known') await prepared.promise
      return () => void inForce.push(known)
    },
    lastKnownGood: { read: () => Promise.resolve('last known'), write: () => Promise.resolve() },
    clock: systemClock,
    pollMs: 3_600_000,
  })
  const started = copy.start({ databaseIsAway: true })
  answer.resolve(1)
  await expect.poll(() => inForce).toEqual(['of the database'])
  prepared.resolve()
  await started
  expect(inForce).toEqual(['of the database'])
  await copy.close()
})

it('what is changed while a copy is read in steps is in force with the whole of it: no key is removed without the one that replaces it', async () => {
  const database = { version: 1, keys: new Set(['old']) }
  const installed: string[][] = []
  let replace: (() => void) | undefined
  const copy = createRememberedCopy<string[]>({
    version: () => Promise.resolve(database.version),
    load: () => {
      const first = ['new'].filter((key) => database.keys.has(key))
      replace?.()
      return Promise.resolve([...first, ...['old'].filter((key) => database.keys.has(key))])
    },
    install: (known) => void installed.push(known),
    lastKnownGood: undefined,
    clock: systemClock,
    pollMs: 3_600_000,
  })
  await copy.start()
  replace = () => {
    replace = undefined
    database.keys = new Set(['new'])
    database.version += 2
  }
  database.version++
  await copy.refresh()
  expect(installed).toEqual([['old'], ['new']])
  await copy.close()
})
