import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBody, draftOfDestination, emptyDraft, updateBody } from '../../console/src/pages/destinations/body.ts'
import { destinationWords, type DestinationWords, type OpenApiDocument } from '../../console/src/pages/destinations/document.ts'
import type { Field } from '../../console/src/pages/destinations/schema-fields.ts'
import type { Value, Values } from '../../console/src/pages/destinations/values.ts'
import type { ObservabilityDestination } from '../../console/src/api/schema.ts'
import { DESTINATIONS } from '../../src/destinations/index.ts'
import { exampleConfigs } from '../../src/testing/destination-configs.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Every destination type can be created with the form that its schema generates, from typed input. */

const BASE = '/api/v1/observability/destinations'
const URL_OF_A_PLATFORM = 'https://platform.example.com'
const HEADER = [{ name: 'x-extra', value: 'extra-secret-value' }]

let gateway: TestGateway
let words: DestinationWords
beforeAll(async () => {
  gateway = await startGateway({ destinations: { base_urls: { nats: 'tls://nats.example.com' } } })
  words = destinationWords((await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApiDocument)
})
afterAll(() => gateway.close())

const configOf = (type: string): { readonly [name: string]: unknown } => exampleConfigs[type]?.(URL_OF_A_PLATFORM) ?? {}
/** The typed input of the settings, all of which are text. */
const typed = (config: { readonly [name: string]: unknown }): Values => ({
  ...Object.fromEntries(Object.entries(config).map(([name, value]) => [name, value as Value])),
  headers: HEADER,
})
const held = async (response: Response): Promise<ObservabilityDestination> => ((await response.json()) as { data: ObservabilityDestination }).data

describe('the forms made from the document', () => {
  it('are of every type there is, each with a name for people', () => {
    expect(words.types.map(({ type }) => type).toSorted()).toEqual([...DESTINATIONS.keys()].toSorted())
    expect(words.types.filter(({ fields }) => fields.length === 0)).toEqual([])
    expect(words.types.filter(({ type, label }) => label === type)).toEqual([])
    expect(words.rules.fields).toHaveLength(12)
    expect(words.rules.operators).toHaveLength(13)
  })

  it('express every setting: none is left to JSON', () => {
    const asJson = words.types.flatMap(({ type, fields }) => fields.filter(({ kind }) => kind === 'json').map(({ name }) => `${type}.${name}`))
    expect(asJson).toEqual([])
  })

  it.each([...Object.keys(exampleConfigs), 'file', 'nats'])(
    'make %s, show no secret of it again, and change one setting without touching another',
    async (type) => {
      const { fields } = words.types.find((one) => one.type === type)!
      const config = configOf(type)
      const made = createBody(type, { ...emptyDraft(fields), name: type, values: typed(config) }, fields)
      expect(made.problems).toEqual({})
      const response = await gateway.api('POST', BASE, made.body)
      expect([response.status, response.status === 201 ? '' : await response.text()]).toEqual([201, ''])
      const stored = await held(response)

      const draft = draftOfDestination(stored, fields)
      const secrets = Object.fromEntries(fields.filter(isSecret).map(({ name }) => [name, draft.values[name]]))
      expect(secrets).toEqual(
        Object.fromEntries(Object.keys(secrets).map((name) => [name, name === 'headers' ? [{ ...HEADER[0], value: '', kept: 'extr...alue' }] : ''])),
      )
      expect(updateBody(stored, draft, fields)).toEqual({ body: {}, problems: {} })

      const more = [...(draft.values['headers'] as typeof HEADER), { name: 'x-more', value: 'another-secret-value' }]
      const change = updateBody(stored, { ...draft, name: 'renamed', values: { ...draft.values, headers: more } }, fields)
      expect(change.body).toEqual({ name: 'renamed', config: { headers: { 'x-extra': 'extr...alue', 'x-more': 'another-secret-value' } } })
      const after = await held(await gateway.api('PATCH', `${BASE}/${stored.id}`, change.body))
      expect(after.config).toEqual({ ...stored.config, headers: { 'x-extra': 'extr...alue', 'x-more': 'anot...alue' } })
    },
  )

  it.each(Object.keys(exampleConfigs))('ask of %s what the gateway asks for', async (type) => {
    const { fields } = words.types.find((one) => one.type === type)!
    const { problems } = createBody(type, { ...emptyDraft(fields), name: type }, fields)
    for (const path of Object.keys(problems)) {
      const name = path.replace('config.', '')
      const { [name]: _left, ...rest } = configOf(type)
      const refused = (await (await gateway.api('POST', BASE, { type, name: type, config: rest })).json()) as {
        error: { metadata: { path: string } }
      }
      expect(refused.error.metadata.path).toBe(path)
    }
  })
})

it('a form that asks for nothing special is taken where privacy is locked', async () => {
  const locked = await startGateway({ destinations: { privacy_locked: true } })
  try {
    const { fields } = words.types.find(({ type }) => type === 'webhook')!
    const { body } = createBody('webhook', { ...emptyDraft(fields), name: 'hook', values: { url: URL_OF_A_PLATFORM } }, fields)
    const stored = await held(await locked.api('POST', BASE, body))
    expect(stored.privacy_mode).toBe(true)
    const change = updateBody(stored, { ...draftOfDestination(stored, fields), name: 'renamed' }, fields)
    expect(await held(await locked.api('PATCH', `${BASE}/${stored.id}`, change.body))).toMatchObject({ name: 'renamed', privacy_mode: true })
  } finally {
    await locked.close()
  }
})

const isSecret = (field: Field): boolean => field.kind === 'secret' || (field.kind === 'map' && field.isSecret)
