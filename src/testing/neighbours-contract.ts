import { describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { NOW, sampleDestination, sampleGeneration, sampleKey, sampleWorkspace } from './sample-records.ts'

const WORKSPACES = ['a', 'b'] as const
const ids = (workspaceId: string): readonly string[] => [`${workspaceId}1`, `${workspaceId}2`]
const version = (id: string) => ({ id, creatorId: 'key', sealed: `sealed ${id}`, createdAt: NOW })
const TIMES = { createdAt: NOW, updatedAt: NOW }
const preset = (id: string, workspaceId: string) => {
  const name = { slug: id, name: `Preset ${id}`, description: null }
  return { id, workspaceId, ...name, ...TIMES, status: 'active' as const, statusUpdatedAt: null, creatorUserId: null }
}
const ownKey = (id: string, workspaceId: string) => {
  const key = { provider: 'acme', name: null, label: 'sk-a...z', sealed: `sealed ${id}`, disabled: false, isFallback: false }
  return { id, workspaceId, ...key, ...TIMES, allowedModels: null, allowedKeyHashes: null, allowedUserIds: null }
}
const guardrail = (id: string, workspaceId: string) => {
  const said = { name: `Guardrail ${id}`, description: null, rules: { enforce_zdr: true } }
  return { id, workspaceId, ...said, ...TIMES }
}
const assignment = (guardrailId: string, keyHash: string) => ({ id: `of ${keyHash}`, guardrailId, keyHash, assignedBy: null, createdAt: NOW })

/** Two workspaces with two records of each kind. */
async function settle(store: Store): Promise<void> {
  for (const workspaceId of WORKSPACES) {
    await store.workspaces.insert(sampleWorkspace(workspaceId))
    for (const id of ids(workspaceId)) {
      await store.keys.insert(sampleKey(id, { workspaceId }))
      await store.ownKeys.insert(ownKey(id, workspaceId))
      await store.guardrails.insert(guardrail(id, workspaceId))
      await store.guardrails.assign([assignment(id, id)])
      await store.presets.save(preset(id, workspaceId), version(`first of ${id}`))
      await store.presets.save(preset(id, workspaceId), version(`second of ${id}`))
      await store.destinations.insert(sampleDestination(id, { workspaceId }), 2)
      await store.generations.insertMany([{ generation: sampleGeneration(id, { workspaceId, keyHash: id }) }])
    }
  }
}

/** All records, by kind and id. */
async function everything(store: Store): Promise<ReadonlyMap<string, string>> {
  const presets = await store.presets.list()
  const versions = await Promise.all(presets.map(({ id }) => store.presets.versions(id)))
  const kinds: { readonly [kind: string]: readonly object[] } = {
    workspace: await store.workspaces.list(),
    key: (await store.keys.list()).map((key) => ({ id: key.hash, ...key })),
    'own key': await store.ownKeys.list(),
    guardrail: await store.guardrails.list(),
    assignment: await store.guardrails.assignments(),
    preset: presets,
    version: versions.flat(),
    destination: (await store.destinations.list({})).destinations,
  }
  return new Map(
    Object.entries(kinds).flatMap(([kind, all]) => all.map((one) => [`${kind} ${(one as { readonly id: string }).id}`, JSON.stringify(one)])),
  )
}

/** The names of all records that differ between the two. */
const changedBetween = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name)).toSorted()

/** Every write with all records that it may touch; none of these is at the end of a list. */
const WRITES: readonly (readonly [string, (store: Store) => Promise<unknown>, readonly string[]])[] = [
  ['a workspace is updated', ({ workspaces }) => workspaces.update('a', { name: 'x' }), ['workspace a']],
  ['a workspace is modified', ({ workspaces }) => workspaces.modify('a', () => ({ name: 'y' })), ['workspace a']],
  ['a key is updated', ({ keys }) => keys.update('a1', { name: 'x' }), ['key a1']],
  ['a key is modified', ({ keys }) => keys.modify('a1', () => ({ name: 'y' })), ['key a1']],
  ['an own key is updated', ({ ownKeys }) => ownKeys.update('a1', { name: 'x' }), ['own key a1']],
  ['a guardrail is modified', ({ guardrails }) => guardrails.modify('a1', () => ({ name: 'x' })), ['guardrail a1']],
  [
    'a key gets another guardrail',
    ({ guardrails }) => guardrails.assign([{ ...assignment('a2', 'a1'), id: 'new' }]),
    ['assignment new', 'assignment of a1'],
  ],
  ['a key loses a guardrail', ({ guardrails }) => guardrails.unassign('a2', ['a1', 'b1']), ['assignment new']],
  ['a preset is modified', ({ presets }) => presets.modify('a1', () => ({ patch: { name: 'x', updatedAt: NOW + 1 } })), ['preset a1']],
  ['a preset gets a version', ({ presets }) => presets.save(preset('a1', 'a'), version('third')), ['preset a1', 'version third']],
  ['a preset goes back', ({ presets }) => presets.modify('a1', () => ({ patch: { updatedAt: NOW + 2 }, designatedVersion: 1 })), ['preset a1']],
  ['a destination is updated', ({ destinations }) => destinations.update('a1', 'a', { name: 'x' }, 1), ['destination a1']],
  ['a destination of another workspace is not', ({ destinations }) => destinations.update('a1', 'b', { name: 'y' }, 2), []],
  ['a destination of another workspace is not removed', ({ destinations }) => destinations.remove('a1', 'b'), []],
  ['a destination is removed', ({ destinations }) => destinations.remove('a1', 'a'), ['destination a1']],
  ['a preset is removed', ({ presets }) => presets.remove('a1'), ['preset a1', 'version first of a1', 'version second of a1', 'version third']],
  ['an own key is removed', ({ ownKeys }) => ownKeys.remove('a1'), ['own key a1']],
  ['a key is removed', ({ keys }) => keys.remove('a1'), ['key a1']],
  ['a guardrail is removed', ({ guardrails }) => guardrails.remove('a2'), ['assignment of a2', 'guardrail a2']],
  [
    'a workspace is removed',
    ({ workspaces }) => workspaces.remove('a'),
    ['destination a2', 'guardrail a1', 'key a2', 'own key a2', 'preset a2', 'version first of a2', 'version second of a2', 'workspace a'],
  ],
]

/** Records are independent: a write only touches what it names, and results for one workspace contain nothing of another. */
export function describeNeighbours(current: () => Store): void {
  describe('neighbours', () => {
    it('stay as they are, whatever is changed beside them', async () => {
      const store = current()
      await settle(store)
      for (const [what, write, touched] of WRITES) {
        const before = await everything(store)
        await write(store)
        expect({ what, touched: changedBetween(before, await everything(store)) }).toEqual({ what, touched })
      }
    })

    it('are not listed with each other, nor found in each other’s place', async () => {
      const store = current()
      await settle(store)
      await store.keys.update('a1', { revokedAt: NOW })
      for (const workspaceId of WORKSPACES) {
        const own = ids(workspaceId)
        expect((await store.keys.list({ workspaceId })).map(({ hash }) => hash)).toEqual(own)
        expect(await store.keys.countLive(workspaceId)).toBe(workspaceId === 'a' ? 1 : 2)
        expect((await store.ownKeys.list({ workspaceId, provider: 'acme' })).map(({ id }) => id)).toEqual(own)
        expect(await store.ownKeys.list({ workspaceId, provider: 'other' })).toEqual([])
        expect((await store.guardrails.list({ workspaceId })).map(({ id }) => id)).toEqual(own)
        expect((await store.presets.list({ workspaceId })).map(({ id }) => id)).toEqual(own)
        expect((await store.destinations.list({ workspaceId })).destinations.map(({ id }) => id)).toEqual(own)
        expect((await store.destinations.list({ workspaceId })).total).toBe(2)
        expect((await store.generations.list({ workspaceId }, { limit: 9 })).generations.map(({ id }) => id).toSorted()).toEqual(own)
        for (const id of own) await findsIn(store, id, workspaceId)
      }
      // Created on first use, although other workspaces existed before.
      for (let i = 0; i < 2; i++) expect((await store.workspaces.default()).id).toBe(DEFAULT_WORKSPACE_ID)
    })
  })
}

async function findsIn(store: Store, id: string, workspaceId: string): Promise<void> {
  const other = workspaceId === 'a' ? 'b' : 'a'
  expect((await store.keys.get(id))?.hash).toBe(id)
  expect((await store.workspaces.get(workspaceId))?.id).toBe(workspaceId)
  expect((await store.ownKeys.get(id))?.id).toBe(id)
  expect((await store.guardrails.get(id))?.id).toBe(id)
  expect((await store.guardrails.assignments({ guardrailId: id })).map(({ keyHash }) => keyHash)).toEqual([id])
  expect((await store.presets.find(workspaceId, id))?.id).toBe(id)
  expect(await store.presets.find(other, id)).toBeUndefined()
  expect((await store.presets.version(id, { number: 2 }))?.id).toBe(`second of ${id}`)
  expect((await store.presets.version(id, { id: `first of ${id}` }))?.version).toBe(1)
  expect(await store.presets.version(id, { id: `first of ${id === 'a1' ? 'a2' : 'a1'}` })).toBeUndefined()
  expect((await store.presets.versions(id)).map(({ presetId }) => presetId)).toEqual([id, id])
  expect(await store.presets.countVersions(id)).toBe(2)
  expect((await store.destinations.get(id, workspaceId))?.id).toBe(id)
  expect((await store.destinations.get(id))?.id).toBe(id)
  expect(await store.destinations.get(id, other)).toBeUndefined()
  expect((await store.generations.get(id, workspaceId))?.id).toBe(id)
  expect((await store.generations.get(id))?.id).toBe(id)
  expect(await store.generations.get(id, other)).toBeUndefined()
}
