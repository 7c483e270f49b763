import { describe, expect, it } from 'vitest'
import type { FilterRules } from '../core/outbox.ts'
import type { Generation } from '../core/generation.ts'
import { sampleDestination } from '../testing/sample-records.ts'
import { fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { replaceMedia } from './media.ts'
import { createHandOver, toEntry, type PackedGeneration } from './hand-over.ts'
import { createSelector, type Selector } from './select.ts'

const full = fullGeneration()
const keeper = 'keeper'
const packing = createHandOver({
  keepsContent: ({ workspaceId }) => workspaceId === keeper,
  withoutOversize: (generation) => ({ ...generation, trace: { omitted: 'too deep' } }),
})

const selector = (changes: { readonly privacyMode?: boolean; readonly filterRules?: FilterRules } = {}): Selector =>
  createSelector(sampleDestination('d1', { workspaceId: full.generation.workspaceId, ...changes }))
const enter = (handed: PackedGeneration, ...selectors: readonly Selector[]) => toEntry(handed, () => selectors)

/** Deeper than any JSON writer's stack. */
function abyss(): object {
  let value: object = {}
  for (let i = 0; i < 200_000; i++) value = { value }
  return value
}

describe('packing records for the delivery thread', () => {
  it('keeps every field, and finds the record again', () => {
    expect(packing.unpack(packing.pack(full))).toEqual(full.generation)
  })

  it('counts what waits by the length of its texts', () => {
    const { generation } = minimalGeneration()
    const large = packing.pack({ generation, content: { instructions: 'x'.repeat(50_000), input: [], output: [] } })
    expect(packing.bytes(large) - packing.bytes(packing.pack({ generation }))).toBeGreaterThan(50_000)
  })

  it('leaves out the content where there is no room for it', () => {
    const packed = packing.pack({ ...full, generation: { ...full.generation, workspaceId: keeper } })
    const short = packing.withoutContent(packed)!
    expect(packing.unpack(short)).toEqual(packing.unpack(packed))
    expect(packing.bytes(short)).toBeLessThan(packing.bytes(packed))
    expect(packing.withoutContent(short)).toBeUndefined()
    expect([enter(packed), enter(short)].map((entry) => 'keptContent' in entry)).toEqual([true, false])
  })

  it('loses neither the record nor its neighbours to what cannot be written', () => {
    const generation: Generation = { ...minimalGeneration().generation, trace: abyss() as Record<string, unknown> }
    expect(packing.unpack(packing.pack({ generation }))).toMatchObject({ id: generation.id, trace: { omitted: 'too deep' } })
    const said = packing.pack({ ...minimalGeneration(), content: { input: [abyss() as never], output: [] } })
    expect(said.c).toBeUndefined()
  })
})

describe('toEntry', () => {
  it('writes the record unchanged', () => {
    const handed = packing.pack(full)
    expect(enter(handed, selector()).record).toBe(handed.g)
    expect(enter(handed).record).toBe(handed.g)
  })

  it('passes on content without media unchanged, and replaces media', () => {
    const plain = packing.pack({ ...full, content: { input: [], output: [], instructions: 'nothing but words' } })
    expect(enter(plain, selector()).content).toBe(plain.c)
    const image = `data:image/png;base64,${'iVBORw0KGgoA'.repeat(20)}`
    const pictured = packing.pack({ ...full, content: { input: [], output: [], instructions: image } })
    expect(enter(pictured, selector()).content).toContain('[image/png, 180 bytes]')
  })

  it('filters on the content, also for destinations in privacy mode', () => {
    const filterRules = { groups: [{ rules: [{ field: 'input', operator: 'contains', value: 'CANARY' }] }] }
    const entry = enter(packing.pack(full), selector({ privacyMode: true, filterRules }))
    expect(entry.deliveries).toEqual([{ destinationId: 'd1', withContent: false }])
    expect(entry.content).toBeUndefined()
  })

  it('keeps the content with the record where the workspace wants it, without its media', () => {
    const generation = { ...full.generation, workspaceId: keeper }
    const { keptContent } = enter(packing.pack({ ...full, generation }))
    expect(keptContent).toEqual(replaceMedia(JSON.parse(JSON.stringify(full.content))))
    expect(JSON.stringify(keptContent)).not.toContain('base64')
    expect(enter(packing.pack(full)).keptContent).toBeUndefined()
  })

  it('sends destinations the call without content when that was dropped before', () => {
    const { generation } = full
    expect(enter(packing.pack({ generation }), selector()).deliveries).toEqual([{ destinationId: 'd1', withContent: false }])
  })

  it('does not send a call whose content was dropped where that might have been excluded', () => {
    const { generation } = full
    const without = (field: string) =>
      selector({ filterRules: { groups: [{ rules: [{ field, operator: 'not_contains', value: 'secret project' }] }] } })
    expect(enter(packing.pack({ generation }), without('model')).deliveries).toHaveLength(1)
    for (const field of ['input', 'output']) {
      expect(enter(packing.pack(full), without(field)).deliveries).toHaveLength(1)
      expect(enter(packing.pack({ generation }), without(field)).deliveries).toEqual([])
    }
  })
})
