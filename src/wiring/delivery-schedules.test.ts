import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FilterRules } from '../core/outbox.ts'
import type { Store } from '../core/store.ts'
import { createStore, type StoreOptions } from '../store/index.ts'
import { faultsOf, wants, type ModelOptions } from '../testing/delivery-model.ts'
import { MINUTE, SPOKEN, START, World } from '../testing/delivery-world.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { anyPhases } from '../testing/scheduled-platform.ts'

/** Whatever platforms, processes and owners do, by schedules drawn from a seed: what arrived, and what is told of it, is held against a model. */

const stopTheClock = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'], now: START })

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-schedules-'))
  stopTheClock()
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, { recursive: true })
})

interface Play extends ModelOptions {
  readonly seed: number
  readonly processes?: number
  readonly place?: Pick<StoreOptions, 'url'>
}

async function inWorld({ seed, processes = 1, place, ...options }: Play, play: (world: World) => Promise<void>): Promise<void> {
  const path = join(folder, 'signalbox.db')
  const clock = { now: (): number => world.now(), monotonic: () => Date.now() }
  const open = (): Promise<Store> => createStore({ ...(place ?? { path }), clock })
  const stores = await Promise.all(Array.from({ length: processes }, open))
  const world: World = new World({ seed, stores, wants })
  try {
    await stores[0]!.migrate()
    await stores[0]!.workspaces.default()
    await play(world)
    for (const member of world.members) if (!member.dead) await world.stop(member)
    expect(await faultsOf(world, options)).toEqual([])
    if (place === undefined) expect(leftIn(path)).toEqual([])
  } finally {
    for (const member of world.members) world.kill(member)
    for (const store of stores) await store.close()
  }
}

/** Rows that nobody waits for. */
function leftIn(path: string): readonly unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = (sql: string): readonly unknown[] => database.prepare(sql).all()
  const left = [
    ...rows('select * from outbox_deliveries where died_at is null'),
    ...rows('select id from outbox_contents where id not in (select generation_id from outbox_deliveries where content_bytes > 0)'),
  ]
  database.close()
  return left
}

const FILTERS: readonly (FilterRules | null)[] = [
  null,
  null,
  { groups: [{ rules: [{ field: 'model', operator: 'equals', value: 'acme/large' }] }] },
  {
    groups: [
      {
        logic: 'or',
        rules: [
          { field: 'total_tokens', operator: 'gt', value: 1e9 },
          { field: 'input', operator: 'contains', value: SPOKEN },
        ],
      },
    ],
  },
]

async function addDestinations(world: World, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await world.addDestination({
      samplingRate: world.pick([1, 1, 0.5, 0.0001]),
      privacyMode: world.int(3) === 0,
      apiKeyHashes: world.int(3) === 0 ? ['a'.repeat(64)] : null,
      filterRules: world.pick(FILTERS),
    })
}

/** Mostly small, some of several hundred thousand characters. */
const recordSome = (world: World, most: number): Promise<string[]> =>
  world.record(world.int(most), () => (world.int(40) === 0 ? 200_000 : world.int(3_000)))

/** Platforms that fail for some minutes in ways of their own, and each refuses some records for good. */
async function troubled(world: World, minutes: number, each: () => Promise<void>): Promise<void> {
  const end = world.now() + minutes * MINUTE
  for (const { platform } of world.destinations) platform.phases = anyPhases(world, end)
  while (world.now() < end) {
    const ids = await recordSome(world, 60)
    for (const { platform, owed } of world.destinations)
      for (const id of ids) if (owed.has(id) && world.int(100) === 0) platform.poison.set(id, world.pick([400, 400, 413]))
    await world.advance(world.int(60_000))
    await each()
  }
}

describe('destinations under generated schedules', () => {
  it.each([1, 2, 3])('have everything once and soon when nothing fails (seed %i)', (seed) =>
    inWorld({ seed }, async (world) => {
      await addDestinations(world, 5)
      world.startWorker()
      for (let i = 0; i < 8; i++) {
        await recordSome(world, 120)
        await world.advance(world.int(4_000))
      }
      await world.advance(MINUTE)
      const waits = world.destinations.flatMap(({ platform }) =>
        platform.arrivals.flatMap(({ ids, at }) => ids.map((id) => at - world.recordedAt.get(id)!)),
      )
      expect(Math.max(...waits)).toBeLessThan(11_000)
    }),
  )

  it.each([2, 3, 18])('through faults, restarts, kills and changes (seed %i)', (seed) =>
    inWorld({ seed }, async (world) => {
      await addDestinations(world, 5)
      let member = world.startWorker()
      const restart = async (): Promise<void> => {
        await world.advance(world.int(40_000))
        member = world.startWorker()
      }
      await troubled(world, 8, async () => {
        const destination = world.pick(world.destinations)
        const steps: readonly (() => Promise<void>)[] = [
          () => {
            world.kill(member)
            return restart()
          },
          () => world.stop(member).then(restart),
          () => world.change(destination, { enabled: false }),
          () => world.change(destination, { enabled: true }),
          () => world.change(destination, { privacyMode: true }),
          () => world.rotate(destination),
          () => (world.int(3) === 0 ? world.remove(destination) : Promise.resolve()),
        ]
        await steps[world.int(12)]?.()
      })
      for (const destination of world.destinations) await world.change(destination, { enabled: true })
      await world.advance(90 * MINUTE)
    }),
  )

  it.each([1, 2])('with two processes on one file, of which either dies (seed %i)', (seed) =>
    inWorld({ seed, processes: 2 }, async (world) => {
      await addDestinations(world, 4)
      const members = [world.startWorker(0), world.startWorker(1)]
      await troubled(world, 6, async () => {
        const at = world.int(6)
        if (members[at] === undefined) return
        world.kill(members[at])
        members[at] = world.startWorker(at)
      })
      await world.advance(150 * MINUTE)
    }),
  )

  it.each([1, 2])('with a clock that jumps by minutes, hours and days (seed %i)', (seed) =>
    inWorld({ seed, twice: true, processes: 2 }, async (world) => {
      await addDestinations(world, 4)
      for (const process of [0, 1]) world.startWorker(process)
      for (let i = 0; i < 12; i++) {
        for (const { platform } of world.destinations) platform.phases = anyPhases(world, world.now() + MINUTE)
        await recordSome(world, 40)
        await world.advance(world.int(40_000))
        if (world.int(2) === 0) world.jump(world.pick([1, -1]) * world.pick([1, 60, 24 * 60]) * MINUTE)
      }
      for (const { platform } of world.destinations) platform.phases = []
      for (let minute = 0; minute < 150; minute++) {
        await world.advance(MINUTE)
        await world.outbox.sweep(2_000)
        world.wake()
      }
    }),
  )

  it.each([1, 2])('with a store that fails now and then (seed %i)', (seed) =>
    inWorld({ seed, twice: true }, async (world) => {
      await addDestinations(world, 4)
      world.startWorker()
      await troubled(world, 8, async () => void (world.isStoreFailing = world.int(2) === 0))
      world.isStoreFailing = false
      await world.advance(90 * MINUTE)
    }),
  )
})

const postgres = await findTestPostgres('schedules of destinations over PostgreSQL')
describe.skipIf(!postgres.available)('destinations under generated schedules, over PostgreSQL', () => {
  it('with two processes, of which either dies', async () => {
    if (!postgres.available) return
    vi.useRealTimers()
    const schema = await postgres.createSchema()
    stopTheClock()
    await inWorld({ seed: 2, processes: 2, place: { url: schema.url } }, async (world) => {
      await addDestinations(world, 3)
      const members = [world.startWorker(0), world.startWorker(1)]
      await troubled(world, 2, async () => {
        world.kill(members[0]!)
        members[0] = world.startWorker(0)
      })
      await world.advance(75 * MINUTE)
    })
    vi.useRealTimers()
    await schema.drop()
  })
})
