import { describe, expect, it } from 'vitest'
import { DEFAULT_WORKSPACE_ID, type Workspace } from '../core/store.ts'
import { sampleGeneration, sampleWorkspace } from '../testing/sample-records.ts'
import { createContentPolicy } from './content-logging.ts'

const keeps = (settings: Workspace['settings'], overrides = {}) =>
  createContentPolicy((id) => (id === DEFAULT_WORKSPACE_ID ? sampleWorkspace(id, { settings }) : undefined))(sampleGeneration('gen-1', overrides))
const ON = { is_observability_io_logging_enabled: true }

describe('prompts and answers are stored', () => {
  it('only where the workspace asked for it', () => {
    expect(keeps({})).toBe(false)
    expect(keeps({ is_observability_io_logging_enabled: 'true' })).toBe(false)
    expect(keeps(ON)).toBe(true)
    expect(keeps(ON, { workspaceId: 'another' })).toBe(false)
  })

  it('for the keys it names', () => {
    expect(keeps({ ...ON, io_logging_api_key_ids: ['h1'] }, { keyHash: 'h1' })).toBe(true)
    expect(keeps({ ...ON, io_logging_api_key_ids: ['h1'] }, { keyHash: 'h2' })).toBe(false)
    expect(keeps({ ...ON, io_logging_api_key_ids: null }, { keyHash: 'h2' })).toBe(true)
  })

  it('for its share of sessions, each whole or not at all', () => {
    const rate = 0.25
    const kept = Array.from({ length: 2_000 }, (_, i) => keeps({ ...ON, io_logging_sampling_rate: rate }, { sessionId: `session-${i}` }))
    expect(kept.filter(Boolean).length / kept.length).toBeCloseTo(rate, 1)
    for (let i = 0; i < 20; i++) expect(keeps({ ...ON, io_logging_sampling_rate: rate }, { sessionId: `session-${i}`, id: 'gen-2' })).toBe(kept[i])
    expect(keeps({ ...ON, io_logging_sampling_rate: 0 })).toBe(false)
    expect(keeps({ ...ON, io_logging_sampling_rate: 1 })).toBe(true)
  })
})
