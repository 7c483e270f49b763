import { describe, expect, it } from 'vitest'
import type { Owner } from '../core/call.ts'
import { sampleWorkspace } from '../testing/sample-records.ts'
import { createRoutingDefaults } from './routing-defaults.ts'

const owner: Owner = { workspaceId: 'w', keyHash: 'h', keyName: '', keyLabel: '' }
const routing = { cooldown: true, retries: true, sticky: false, session_headers: [], stream_failure: 'fail' } as const

function defaultsOf(settings: { readonly [name: string]: unknown }, model?: string) {
  const config = { defaults: { plugins: [], ...(model === undefined ? {} : { model }) }, routing }
  return createRoutingDefaults({ workspace: () => sampleWorkspace('w', { settings }) }, () => config)(owner)
}

describe('the routing defaults added to requests without their own', () => {
  it('come from the configuration', () => {
    expect(defaultsOf({})).toEqual({ cooldown: true, sticky: false })
    expect(defaultsOf({}, 'acme/small')).toEqual({ cooldown: true, sticky: false, model: 'acme/small' })
  })

  it('include a lifetime of prompt caches if the configuration has one', () => {
    const config = { defaults: { plugins: [], prompt_caching: '1h' }, routing } as const
    expect(createRoutingDefaults({ workspace: () => undefined }, () => config)(owner)).toEqual({ cooldown: true, sticky: false, promptCaching: '1h' })
  })

  it('come from the workspace before the configuration', () => {
    const settings = { default_text_model: 'acme/large', default_image_model: 'acme/paint', default_provider_sort: 'latency' }
    expect(defaultsOf(settings, 'acme/small')).toMatchObject({ model: 'acme/large', imageModel: 'acme/paint', provider: { sort: 'latency' } })
  })

  it('ignore invalid values of a row edited by hand', () => {
    expect(defaultsOf({ default_text_model: 7, default_image_model: '', default_provider_sort: 'luck' }, 'acme/small')).toEqual({
      cooldown: true,
      sticky: false,
      model: 'acme/small',
    })
  })

  it('are compiled once per owner and configuration', () => {
    let reads = 0
    let config = { defaults: { plugins: [] }, routing }
    const defaults = createRoutingDefaults({ workspace: () => (reads++, undefined) }, () => config)
    expect(defaults(owner)).toBe(defaults(owner))
    expect(reads).toBe(1)
    config = { ...config }
    defaults(owner)
    expect(reads).toBe(2)
    defaults({ ...owner })
    expect(reads).toBe(3)
  })
})
