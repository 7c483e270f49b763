import { describe, expect, it } from 'vitest'
import type { ObservabilityDestination } from '../../api/schema.ts'
import { createBody, draftOfDestination, emptyDraft, percentOf, updateBody, type Draft } from './body.ts'
import type { Field } from './schema-fields.ts'

const about = { help: undefined, fallback: undefined }
const FIELDS: readonly Field[] = [
  { ...about, name: 'url', label: 'URL', required: true, kind: 'text' },
  { ...about, name: 'headers', label: 'Headers', required: false, kind: 'map', isSecret: true },
]
const STORED: ObservabilityDestination = {
  id: 'd1',
  workspace_id: 'w1',
  name: 'hook',
  type: 'webhook',
  enabled: true,
  config: { url: 'https://a.example', headers: { 'x-one': '********' } },
  api_key_hashes: ['h1'],
  filter_rules: { enabled: true, groups: [{ logic: 'and', rules: [{ field: 'model', operator: 'exists' }] }] },
  regions: ['global'],
  sampling_rate: 0.07,
  privacy_mode: false,
  broadcast_generation_cost: true,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}
const changed = (part: Partial<Draft>, stored: ObservabilityDestination = STORED) =>
  updateBody(stored, { ...draftOfDestination(stored, FIELDS), ...part }, FIELDS)

describe('a new destination', () => {
  it('omits what was not chosen', () => {
    const draft = { ...emptyDraft(FIELDS), name: ' hook ', values: { url: 'https://a.example' } }
    expect(createBody('webhook', draft, FIELDS)).toEqual({
      body: {
        type: 'webhook',
        name: 'hook',
        config: { url: 'https://a.example' },
      },
      problems: {},
    })
    expect(createBody('webhook', { ...draft, enabled: false, privacy: true, sampling: '1', keys: ['h1'] }, FIELDS).body).toMatchObject({
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.01,
      api_key_hashes: ['h1'],
    })
  })

  it('is not sent without a name, a setting that is needed, or a rate that is a number', () => {
    expect(createBody('webhook', { ...emptyDraft(FIELDS), sampling: 'half' }, FIELDS).problems).toEqual({
      name: 'is needed',
      sampling_rate: 'is not a number',
      'config.url': 'is needed',
    })
    expect(createBody('webhook', { ...emptyDraft(FIELDS), sampling: ' ' }, FIELDS).problems).toHaveProperty('sampling_rate')
  })

  it('belongs to the workspace that was chosen', () => {
    expect(createBody('webhook', { ...emptyDraft([]), workspace: 'w2' }, []).body).toMatchObject({ workspace_id: 'w2' })
  })
})

describe('a change', () => {
  it('of nothing is empty', () => expect(changed({})).toEqual({ body: {}, problems: {} }))

  it('names only what differs', () => {
    expect(changed({ name: 'other', sampling: '12.5' }).body).toEqual({ name: 'other', sampling_rate: 0.125 })
    expect(changed({ keys: [] }).body).toEqual({ api_key_hashes: null })
    expect(changed({ rules: { enabled: true, groups: [] } }).body).toEqual({ filter_rules: null })
    expect(changed({ values: { url: 'https://b.example', headers: [{ name: 'x-one', value: '', kept: '********' }] } }).body).toEqual({
      config: { url: 'https://b.example' },
    })
  })

  it('of a map keeps what others have added to it or removed from it since the form was opened', () => {
    const headers = (map: object) => ({ ...STORED, config: { ...STORED.config, headers: map } }) as ObservabilityDestination
    const before = headers({ 'x-one': '********', 'x-two': '********' })
    const latest = { ...headers({ 'x-one': '********', 'x-theirs': '********' }), updated_at: '2026-01-01T00:00:01.000Z' }
    const rows = [
      { name: 'x-one', value: 'typed', kept: '********' },
      { name: 'x-two', value: '', kept: '********' },
      { name: 'x-mine', value: 'new' },
    ]
    const draft = { ...draftOfDestination(before, FIELDS), values: { url: 'https://a.example', headers: rows } }
    const sent = (now: ObservabilityDestination) => updateBody(before, draft, FIELDS, now).body
    expect(sent(latest)).toEqual({ config: { headers: { 'x-one': 'typed', 'x-theirs': '********', 'x-mine': 'new' } } })
    const own = { headers: { 'x-one': 'typed', 'x-two': '********', 'x-mine': 'new' } }
    expect([sent(before), sent({ ...latest, updated_at: before.updated_at })]).toEqual([{ config: own }, { config: own }])
    // Without an entry there is no map.
    const none = updateBody(before, { ...draft, values: { ...draft.values, headers: [] } }, FIELDS, latest).body
    expect(none).toEqual({ config: { headers: { 'x-theirs': '********' } } })
    const first = { ...STORED, config: { url: 'https://a.example' } } as ObservabilityDestination
    expect(updateBody(first, draft, FIELDS, latest).body).toMatchObject({ config: { headers: { 'x-theirs': '********', 'x-mine': 'new' } } })
  })

  it('treats rules in another notation as equal', () => {
    const terse = {
      ...STORED,
      filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'exists' }] }, { rules: [] }] },
    } as ObservabilityDestination
    expect(changed({}, terse).body).toEqual({})
  })

  it('leaves settings alone that it has no field for', () => {
    const newer = { ...STORED, config: { ...STORED.config, unknown: { deep: 1 } } } as ObservabilityDestination
    expect(changed({}, newer).body).toEqual({})
  })
})

it.each([
  [1, '100'],
  [0.07, '7'],
  [0.29, '29'],
  [0.0001, '0.01'],
  [0.125, '12.5'],
])('a rate of %d is %s percent', (rate, percent) => expect(percentOf(rate)).toBe(percent))
