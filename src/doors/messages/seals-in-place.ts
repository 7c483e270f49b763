import type { Block } from './block.ts'
import { readLateSeal, UNSEALED } from './late-seal.ts'

/** The blocks in the order they would have if every seal had arrived with its thought. */
export function withSealsInPlace(blocks: readonly Block[]): readonly Block[] {
  const late = blocks.flatMap((block, index) => {
    const seal = block.type === 'redacted_thinking' ? block['data'] : block.type === 'thinking' ? block['signature'] : undefined
    const found = typeof seal === 'string' ? readLateSeal(seal) : undefined
    return found === undefined ? [] : [{ ...found, at: Math.min(found.at, index), block, index }]
  })
  if (late.length === 0) return blocks
  const moved = new Set(late.map(({ index }) => index))
  const placed: Block[][] = blocks.map((block, index) => (moved.has(index) ? [] : [block]))
  for (const { where, at, seal, block } of late.toSorted((a, b) => a.nth - b.nth)) {
    const place = placed[at]!
    const first = place.at(-1)
    const joins = where === 'in' && !moved.has(at) && first?.type === 'thinking' && signatureOf(first) === undefined
    const thinking = joinWords(joins ? first['thinking'] : '', block['thinking'])
    place.splice(place.length - (moved.has(at) ? 0 : 1), joins ? 1 : 0, { type: 'thinking', thinking, signature: seal })
  }
  return placed.flat()
}

/** With `+`, which copies nothing: a request may have a thousand of these. */
function joinWords(before: unknown, after: unknown): string {
  const [a, b] = [(before ?? '') as string, (after ?? '') as string]
  return a === '' || b === '' ? a + b : a + '\n\n' + b
}

/** The signature that must come back with a thought, if there is one. */
export function signatureOf({ signature }: Block): string | undefined {
  return typeof signature === 'string' && signature !== '' && signature !== UNSEALED ? signature : undefined
}
