import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { GatewayError } from '../core/error.ts'
import type { Plugin, PluginEntry } from '../core/extension.ts'
import { createPluginRegistry, selectPlugins } from './plugin-select.ts'

const settings = z.object({
  max_results: z.int().max(25).default(5),
  pdf: z.object({ engine: z.string().optional() }).optional(),
  models: z.array(z.string().min(1)).optional(),
})
const web: Plugin = { id: 'web', settings }
const open: Plugin = { id: 'open', settings: z.looseObject({}) }
const idle: Plugin = {
  id: 'idle',
  settings: z.object({}),
  check() {
    throw new GatewayError('invalid_request', 'The plugin idle has nobody to ask', { path: 'plugins' })
  },
}
const shelfOf = (...defaults: PluginEntry[]) => createPluginRegistry([web, open, idle], defaults)

describe('defaults of the operator', () => {
  it.each<[string, PluginEntry, RegExp]>([
    [
      'a key that is no setting, with the one that was meant',
      { id: 'web', max_result: 3 },
      /^defaults\.plugins\[0\]\.max_result: unknown.*max_results/,
    ],
    ['the same further in', { id: 'web', pdf: { engin: 'x' } }, /^defaults\.plugins\[0\]\.pdf\.engin: unknown.*engine/],
    ['a word for the common settings', { id: 'web', enable: true }, /^defaults\.plugins\[0\]\.enable: unknown.*enabled/],
    ['a value the plugin does not take', { id: 'web', max_results: 300 }, /^defaults\.plugins\[0\]\.max_results: /],
    ['no plugin of that name, with the one that was meant', { id: 'weeb' }, /^defaults\.plugins\[0\]\.id: .*"weeb".*did you mean web/],
    ['a plugin that could serve nobody', { id: 'idle' }, /^defaults\.plugins\[0\]: The plugin idle has nobody to ask$/],
  ])('are refused for %s', (_, entry, message) => {
    expect(() => shelfOf(entry)).toThrow(message)
  })

  it('may set every setting, also those of plugins with free settings', () => {
    const entries = [
      { id: 'web', max_results: 3, pdf: { engine: 'x' }, enabled: false, prevent_overrides: true },
      { id: 'open', anything: 1 },
    ]
    expect(() => shelfOf(...entries)).not.toThrow()
  })

  it('may name an unavailable plugin if it is switched off', () => {
    expect(() => shelfOf({ id: 'idle', enabled: false })).not.toThrow()
  })
})

it('a setting of a request that is refused is named where it stands, entries of lists as everywhere else', () => {
  const path = 'plugins[0].models[1]'
  const refused = expect.objectContaining({
    message: expect.stringMatching(/^plugins\[0\]\.models\[1\]: /),
    details: expect.objectContaining({ path }),
  })
  expect(() => selectPlugins({ input: [], plugins: [{ id: 'web', models: ['acme/small', ''] }] }, shelfOf())).toThrow(refused)
})

it('requests may contain settings of other gateways', () => {
  expect(selectPlugins({ input: [], plugins: [{ id: 'web', of_others: 1 }] }, shelfOf())).toEqual([{ plugin: web, settings: { max_results: 5 } }])
})

it('requests may contain empty settings, for which those of the operator apply', () => {
  const plugins = [{ id: 'web', enabled: null, max_results: null, pdf: { engine: null } }]
  expect(selectPlugins({ input: [], plugins }, shelfOf({ id: 'web', max_results: 7 }))).toEqual([
    { plugin: web, settings: { max_results: 7, pdf: {} } },
  ])
})

describe('a plugin that runs for calls that do not name it', () => {
  const request = { input: [] }
  const always = (): boolean => true
  const reading: Plugin = {
    id: 'reading',
    settings: z.object({}),
    implied: always,
    adapts: { standing: {}, modalities: () => [], adapt: () => undefined },
  }
  const named: Plugin = { id: 'named', settings: z.object({}), implied: always }
  const idsOf = (plugins: readonly PluginEntry[] | undefined, ...defaults: PluginEntry[]) =>
    selectPlugins({ ...request, ...(plugins === undefined ? {} : { plugins }) }, createPluginRegistry([reading, named], defaults))?.map(
      ({ plugin }) => plugin.id,
    )

  it('does not run where the operator has switched it off, unless the request names it', () => {
    const off = { id: 'reading', enabled: false }
    expect(idsOf(undefined)).toEqual(['reading', 'named'])
    expect(idsOf(undefined, off)).toEqual(['named'])
    expect(idsOf([{ id: 'reading' }], off)).toEqual(['reading', 'named'])
  })

  it('runs where the request names its model router, with the settings of a disabled entry', () => {
    expect(idsOf(undefined, { id: 'named', enabled: false })).toEqual(['reading', 'named'])
  })
})
