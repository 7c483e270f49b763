import { describe, expect, it } from 'vitest'
import type { Generation } from '../core/generation.ts'
import { manualClock } from '../testing/deterministic.ts'
import { sampleGeneration } from '../testing/sample-records.ts'
import { createFindContent, createFindGeneration } from './find-generation.ts'

const clock = manualClock()
const idOf = (ageMs: number): string => `gen-${Math.floor((clock.now() - ageMs) / 1_000)}-abc`

/** The record appears at look number `at`. Returns whether it was found, the number of looks and the time waited. */
async function find(id: string, at: number) {
  let looks = 0
  let waited = 0
  const record = sampleGeneration(id)
  const look = (): Promise<Generation | undefined> => Promise.resolve(++looks === at ? record : undefined)
  const sleep = (ms: number): Promise<void> => Promise.resolve(void (waited += ms))
  const found = await createFindGeneration({ look, clock, sleep })(id, 'w')
  return { found: found === record, looks, waited }
}

describe('the record of a call', () => {
  it('that is there is found at once', async () => {
    expect(await find(idOf(0), 1)).toEqual({ found: true, looks: 1, waited: 0 })
  })

  it('that another process is about to write is found by a retry, however long the call took', async () => {
    expect(await find(idOf(0), 2)).toEqual({ found: true, looks: 2, waited: 100 })
    expect(await find(idOf(20 * 60_000), 4)).toEqual({ found: true, looks: 4, waited: 300 })
  })

  it('that does not exist is waited for only a short time', async () => {
    expect(await find(idOf(0), 99)).toEqual({ found: false, looks: 4, waited: 300 })
  })

  it.each([
    ['of yesterday', idOf(86_400_000)],
    ['whose id is none', 'gen-x'],
    ['of the future', idOf(-86_400_000)],
  ])('%s is not waited for', async (_what, id) => {
    expect(await find(id, 2)).toEqual({ found: false, looks: 1, waited: 0 })
  })
})

describe('the content of a call', () => {
  const record = sampleGeneration(idOf(0))
  const content = { input: [], output: [] }

  it('is found together with a record that another process was about to write', async () => {
    let looks = 0
    const look = (): Promise<Generation | undefined> => Promise.resolve(++looks === 3 ? record : undefined)
    const find = createFindContent({
      find: createFindGeneration({ look, clock, sleep: () => Promise.resolve() }),
      isPending: () => false,
      settled: () => Promise.reject(new Error('nothing is to be written here')),
      contentOf: () => Promise.resolve(looks < 3 ? undefined : content),
    })
    expect(await find(record.id, 'w')).toEqual({ generation: record, content })
  })

  it('is written first if it is still in memory', async () => {
    let written = false
    const find = createFindContent({
      find: () => Promise.resolve(record),
      isPending: () => !written,
      settled: () => Promise.resolve(void (written = true)),
      contentOf: () => Promise.resolve(written ? content : undefined),
    })
    expect(await find(record.id, 'w')).toEqual({ generation: record, content })
  })

  it('without a call is not looked up', async () => {
    const find = createFindContent({
      find: () => Promise.resolve(undefined),
      isPending: () => false,
      settled: () => Promise.resolve(),
      contentOf: () => Promise.reject(new Error('looked for')),
    })
    expect(await find('gen-x', 'w')).toBeUndefined()
  })
})
