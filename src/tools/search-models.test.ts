import { describe, expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import type { ToolContext } from '../core/extension.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { testCall } from '../testing/plugin-context.ts'
import { createSearchModels } from './search-models.ts'

const catalog = testCatalog([
  testEndpoint({ model: 'acme/seeing', inputModalities: ['text', 'image'], tag: 'acme' }),
  testEndpoint({ model: 'acme/seeing', inputModalities: ['text'], tag: 'other' }),
  testEndpoint({ model: 'acme/small', inputModalities: ['text'], tag: 'acme' }),
])
const tool = createSearchModels(() => catalog)

async function found(admits?: Call['admits'], args = {}): Promise<{ readonly models: readonly { readonly id: string }[] }> {
  const call = { ...testCall(), ...(admits === undefined ? {} : { admits }) }
  const context = { settings: tool.settings.parse({}), call } as unknown as ToolContext<never>
  const { output } = await tool.execute(args, context)
  return JSON.parse(output as string)
}

describe('a forbidden endpoint', () => {
  it('is not offered', async () => {
    expect((await found()).models.map(({ id }) => id)).toEqual(['acme/seeing', 'acme/small'])
    const { models, ...counts } = await found(({ model }) => (model === 'acme/small' ? 'forbids the model' : undefined))
    expect(models.map(({ id }) => id)).toEqual(['acme/seeing'])
    expect(counts).toEqual({ total_results: 1, showing: 1 })
  })
  it('does not count for the capabilities of a model', async () => {
    const withoutAcme: Call['admits'] = ({ provider }) => (provider === 'acme' ? 'forbids the provider' : undefined)
    expect((await found(withoutAcme)).models).toMatchObject([{ id: 'acme/seeing', input_modalities: ['text'] }])
    expect((await found(withoutAcme, { input_modalities: ['image'] })).models).toEqual([])
  })
})
