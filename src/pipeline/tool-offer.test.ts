import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Endpoint } from '../core/endpoint.ts'
import type { ServerTool } from '../core/extension.ts'
import type { Tool } from '../core/item.ts'
import { testEndpoint } from '../testing/endpoints.ts'
import type { Offer } from './offered-tool.ts'
import { createToolRegistry } from './tool-registry.ts'
import { offerTools } from './tool-offer.ts'

/** A tool that providers have, too, under the type `look`. */
const look: ServerTool = {
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  settings: z.looseObject({ ours: z.boolean().optional(), wide: z.boolean().optional(), at: z.array(z.object({ x: z.int() })).optional() }),
  spellings: { look: 'look_call' },
  readNative: ({ wide }) => ({ wide }),
  hosted: (settings) => {
    const { ours, ...rest } = settings as { readonly ours?: boolean }
    return ours === true ? undefined : { type: 'look', ...rest }
  },
  begin: () => undefined,
  execute: async () => ({ output: '' }),
}

function hosting(): Endpoint {
  const endpoint = testEndpoint()
  const dialect = { ...endpoint.connection.dialect, hosts: ({ type }: Tool) => type === 'look' }
  return { ...endpoint, connection: { ...endpoint.connection, dialect } }
}

const offered = (tools: readonly Tool[], endpoint: Endpoint = hosting()): Offer =>
  offerTools({ input: [], tools }, { registry: createToolRegistry([look]), endpoints: [endpoint], nested: false })

describe('a tool the provider runs itself', () => {
  const own = (parameters: object = {}): Tool => ({ type: 'gateway:look', parameters })
  it('is sent once, under the type that came first', () => {
    expect(offered([own(), own()]).tools).toEqual([{ type: 'look' }])
    expect(offered([own({ wide: true }), own()]).tools).toEqual([{ type: 'look', wide: true }])
    expect(offered([{ type: 'look', near: 1 }, own()]).tools).toEqual([{ type: 'look', near: 1 }])
    expect(offered([own(), { type: 'look', near: 1 }]).tools).toEqual([{ type: 'look' }])
  })
  it('knows no setting that is null', () => {
    for (const parameters of [null, { wide: null }]) expect(offered([{ type: 'gateway:look', parameters }]).tools).toEqual([{ type: 'look' }])
  })
  it('produces items of the type that came first', () => {
    expect([...offered([own(), { type: 'look' }]).renamed]).toEqual([['look_call', 'gateway:look']])
    expect([...offered([{ type: 'look' }, own()]).renamed]).toEqual([])
  })
  it('stands beside one of that kind which the gateway runs', () => {
    const { tools, byFunction } = offered([own(), own({ ours: true })])
    expect(tools.map(({ type }) => type)).toEqual(['look', 'function'])
    expect(byFunction.size).toBe(1)
  })
  it('is a function for each entry where the provider does not know it', () => {
    expect(offered([own(), own()], testEndpoint()).tools.map(({ type }) => type)).toEqual(['function', 'function'])
  })
})

describe('the name of a function the gateway runs', () => {
  const tools = [{ type: 'function', name: 'look' }]
  it.each([
    ['among the tools', { input: [], tools: [...tools, { type: 'gateway:look' }] }],
    ['added on the way', { input: [{ type: 'additional_tools', role: 'developer', tools }], tools: [{ type: 'gateway:look' }] }],
    ['found by a search', { input: [{ type: 'tool_search_output', call_id: 's', tools }], tools: [{ type: 'gateway:look' }] }],
  ] as const)("gives way to the caller's own, %s", (_, request) => {
    const { byFunction } = offerTools(request, {
      registry: createToolRegistry([look]),
      endpoints: [testEndpoint()],
      nested: false,
    })
    expect([...byFunction.keys()]).toEqual(['gateway_look'])
  })
})

describe('a setting that is refused', () => {
  it.each([
    [{ type: 'gateway:look', parameters: { wide: 'very' } }, 'tools[0].parameters.wide'],
    [{ type: 'look', wide: 'very' }, 'tools[0].wide'],
    [{ type: 'gateway:look', parameters: { at: [{ x: 1 }, { x: 'far' }] } }, 'tools[0].parameters.at[1].x'],
  ])('in %j is named where it stands', (tool, path) => {
    let refused: unknown
    try {
      offered([tool])
    } catch (error) {
      refused = error
    }
    expect(refused).toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining(`${path}: `), details: { path } })
  })
})
