import { expect, it, vi } from 'vitest'
import { buildCatalog } from '../catalog/build.ts'
import { loadConfig } from '../config/load.ts'
import { dialects } from '../dialects/index.ts'
import * as egress from '../lib/egress.ts'
import { PROVIDERS } from '../providers/index.ts'
import { openPlugins } from './plugins.ts'
import { openTooling } from './tooling.ts'

vi.mock('../lib/egress.ts', { spy: true })

it('a client is created once for all configurations with the same rules, so that a reload leaks no connections', async () => {
  const read = (tools: boolean) =>
    loadConfig({ env: {}, read: { file: 'signalbox.json', text: JSON.stringify({ network: { allow_private: { tools } } }) } })
  const config = await read(false)
  const catalog = await buildCatalog(config, PROVIDERS, dialects, {})
  const parts = [openTooling, openPlugins].map((open) => open({ config, env: {}, catalog: () => catalog }))
  const made = vi.mocked(egress.createEgress)
  const atTheStart = made.mock.results.length
  for (let i = 0; i < 3; i++) for (const part of parts) part.reload(config)
  expect(made.mock.results).toHaveLength(atTheStart)
  for (let i = 0; i < 3; i++) for (const allowed of [true, false]) for (const part of parts) part.reload(await read(allowed))
  // Where callers' credentials go in the clear to nobody, now also to the private network.
  expect(made.mock.results).toHaveLength(atTheStart + 1)
  for (const part of parts) await part.close()
})
