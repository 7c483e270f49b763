import { expect, it } from 'vitest'
import { ConfigError } from '../core/config-error.ts'
import { withLines } from './lines.ts'
import { loadConfig } from './load.ts'

const TEXT = `providers:
  - slug: acme
    base_url: http://127.0.0.1:9/v1
models:
  - slug: acme/small
    endpoints:
      - provider: nobody
`

it('adds the line in the file to a problem that was found later', async () => {
  const config = await loadConfig({ env: {}, read: { file: '/box.yaml', text: TEXT } })
  const problems = [
    { path: 'models[0].endpoints[0].provider', message: 'a' },
    // What is missing is told at what it is missing in.
    { path: 'providers[0].dialect', message: 'b' },
    { path: 'demo.options', message: 'c' },
    { path: 'providers[0].slug', message: 'd', line: 9 },
  ]
  const error: unknown = await withLines(config, () => Promise.reject(new ConfigError(problems, config.file))).catch((reason: unknown) => reason)
  expect((error as Error).message).toBe(
    '4 problems in the configuration (/box.yaml):\n' +
      '  models[0].endpoints[0].provider (line 7): a\n  providers[0].dialect (line 2): b\n  demo.options: c\n  providers[0].slug (line 9): d',
  )
})

it('leaves other errors unchanged, and all without a file', async () => {
  const config = await loadConfig({ env: {}, read: { file: '/box.yaml', text: TEXT } })
  const other = new Error('x')
  await expect(withLines(config, () => Promise.reject(other))).rejects.toBe(other)
  const problem = new ConfigError([{ path: 'defaults.model', message: 'a' }])
  await expect(withLines(await loadConfig({ env: {}, read: {} }), () => Promise.reject(problem))).rejects.toThrow('  defaults.model: a')
  expect(await withLines(config, () => Promise.resolve(1))).toBe(1)
})
