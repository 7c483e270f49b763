import { expect, it } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { createRememberedCopy } from './remembered-copy.ts'

it('a copy is made again after an outage though the version is the same: another database may answer by then', async () => {
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
