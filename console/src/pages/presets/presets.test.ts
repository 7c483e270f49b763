import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/client.ts'
import type { Preset, PresetVersion } from '../../api/schema.ts'
import { diffLines } from './diff.ts'
import {
  contentChanges,
  contentFormOf,
  createPresetBody,
  curlOf,
  newPresetForm,
  parseConfig,
  presetChanges,
  presetFormOf,
  refusalOfConfig,
} from './form.ts'

const version = { system_prompt: 'Be brief.', config: { temperature: 0.2, stop: ['x'] } } as unknown as PresetVersion
const preset = { name: 'A', description: 'old', status: 'active' } as Preset

it('the configuration has to be a JSON object, or empty', () => {
  expect([parseConfig(' '), parseConfig('{"a": [1]}')]).toEqual([{ config: {} }, { config: { a: [1] } }])
  expect(parseConfig('[1]').problem).toContain('Enter an object')
  expect(parseConfig('null').problem).toContain('Enter an object')
  expect(parseConfig('{"a":').problem).toContain('not valid JSON yet')
})

it('a new preset leaves out what was not given', () => {
  expect(createPresetBody({ ...newPresetForm(''), slug: ' a ' }, {})).toEqual({ slug: 'a', config: {} })
  expect(createPresetBody({ ...newPresetForm('w'), slug: 'a', name: 'A', prompt: ' two\n' }, { n: 1 })).toEqual({
    slug: 'a',
    name: 'A',
    system_prompt: ' two\n',
    config: { n: 1 },
    workspace_id: 'w',
  })
})

it('a change of a preset sends only what was changed', () => {
  const form = presetFormOf(preset)
  expect(presetChanges(preset, form)).toEqual({})
  expect(presetChanges(preset, { ...form, description: '', status: 'disabled' })).toEqual({ description: null, status: 'disabled' })
})

it('a new version sends what differs from the version it is based on, however the JSON is written', () => {
  const { prompt, config } = contentFormOf(version)
  expect(contentChanges(version, prompt, parseConfig(config).config!)).toEqual({})
  expect(contentChanges(version, prompt, { stop: ['x'], temperature: 0.2 })).toEqual({})
  expect(contentChanges(version, '', { stop: [], temperature: 0.2 })).toEqual({ system_prompt: null, config: { stop: [], temperature: 0.2 } })
})

it('an error about the configuration is shown beside it', () => {
  const at = (path?: string) => refusalOfConfig(new ApiError(400, 'invalid_request', 'no', path))
  expect([at('temperature'), at('config'), at('tools[0].type'), at('slug'), at('system_prompt'), at(), refusalOfConfig(null)]).toEqual([
    'no',
    'no',
    'no',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it('the command names the preset as a model', () => {
  expect(curlOf('http://gateway', 'a.b')).toContain('"model":"@preset/a.b"')
})

describe('the difference of two texts', () => {
  const shown = (before: string, after: string): string =>
    diffLines(before, after)
      .map(({ kind, text }) => `${kind === 'same' ? ' ' : kind === 'added' ? '+' : '-'}${text}`)
      .join('|')

  it('is shown line by line', () => {
    expect(shown('a\nb\nc', 'a\nx\nc')).toBe(' a|-b|+x| c')
    expect(shown('a\nb\nc\nd', 'b\nd\ne')).toBe('-a| b|-c| d|+e')
    expect(shown('', 'a')).toBe('+a')
    expect(shown('a', '')).toBe('-a')
    expect(shown('a\na', 'a')).toBe(' a|-a')
    expect(shown('', '')).toBe('')
  })

  it('holds both texts, whatever they are', () => {
    const texts = ['', 'a', 'a\nb', 'b\na', 'a\nb\na\nb', '\n\n', 'x\na\ny\nb\nz', 'z\ny\nx']
    for (const before of texts) {
      for (const after of texts) {
        const lines = diffLines(before, after)
        const without = (left: string): string => lines.flatMap(({ kind, text }) => (kind === left ? [] : [text])).join('\n')
        expect([without('added'), without('removed')]).toEqual([before, after])
      }
    }
  })

  it('of very long texts shows whole blocks as replaced', () => {
    const long = (word: string): string => Array.from({ length: 3_000 }, (_, n) => `${word} ${n}`).join('\n')
    expect(diffLines(long('a'), long('b')).length).toBe(6_000)
  })
})
