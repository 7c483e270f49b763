import { describe, expect, it } from 'vitest'
import { readCitations } from '../scripts/citations.ts'
import { WITHOUT_TEST } from './fault-list.ts'
import { REQUIREMENTS, verifies } from './requirements.ts'

/** The number of ids for each letter of the fault list; P: reported problems. */
const LISTS = { A: 13, B: 9, C: 30, D: 4, E: 5, F: 11, G: 5, H: 8, I: 11, J: 6, K: 4, P: 50 } as const
const listed = Object.entries(LISTS).flatMap(([letter, count]) => Array.from({ length: count }, (_, n) => `${letter}${n + 1}`))

describe('requirements', () => {
  const cited = readCitations()

  it.each(Object.keys(REQUIREMENTS))('%s has a test, or a reason why not and a plan', (id) => {
    const reason = WITHOUT_TEST[id]
    if (reason === undefined) expect(cited.get(id) ?? []).not.toEqual([])
    // A reason whose id has a test by now is stale.
    else expect(cited.get(id) ?? []).toEqual([])
  })
  it('leave out no number of the lists', () => {
    expect(listed.filter((id) => !(id in REQUIREMENTS))).toEqual([])
  })
  it('cited by tests or reasons exist', () => {
    expect([...cited.keys(), ...Object.keys(WITHOUT_TEST)].filter((id) => !(id in REQUIREMENTS))).toEqual([])
  })
  it('appear in the titles of their tests', () => {
    expect(verifies('P12', 'P13', 'a title')).toBe('a title (P12, P13)')
  })
})
