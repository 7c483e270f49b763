import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Plugin } from '../core/extension.ts'
import { explainChoice, type ChoiceScene } from './choosing.ts'
import { createPluginRegistry } from '../pipeline/plugin-select.ts'
import { testCatalog } from '../testing/endpoints.ts'

const scene: ChoiceScene = { owner: { workspaceId: 'w', keyHash: 'h', keyName: 'n', keyLabel: 'l' }, defaults: {} }
const catalog = testCatalog([])
const chooser = (choose: NonNullable<Plugin['choose']>): Plugin => ({
  id: 'chooser',
  settings: z.object({}),
  implied: ({ model }) => model === 'gateway/choice',
  choose,
})
const explain = (choose: NonNullable<Plugin['choose']>, model = 'gateway/choice') =>
  explainChoice({ model, models: ['acme/old'], input: [] }, scene, createPluginRegistry([chooser(choose)], []), catalog)

describe('models chosen by plugins in explained plans', () => {
  it('are in the planned request', async () => {
    expect(await explain(() => ({ models: ['acme/a', 'acme/b'], strategy: 'auto', reasons: { router: 'x' } }))).toEqual({
      request: { model: 'acme/a', models: ['acme/b'], input: [] },
      strategy: 'auto',
      reasons: { router: 'x' },
    })
  })

  it('are those of the request when no plugin chooses', async () => {
    const given = { model: 'acme/a', models: ['acme/old'], input: [] }
    expect(await explain(() => ({ models: ['acme/b'], strategy: 'auto' }), 'acme/a')).toEqual({ request: given, strategy: undefined, reasons: {} })
    expect((await explain(() => undefined)).strategy).toBeUndefined()
  })

  it('are not shown when a model would have to be asked', async () => {
    const asking = explain(async (request, { ask }) => ({ models: [(await ask(request)).model], strategy: 'auto' }))
    await expect(asking).rejects.toMatchObject({
      errorType: 'invalid_request',
      status: 400,
      message: expect.stringContaining('explain asks no model'),
    })
  })
})
