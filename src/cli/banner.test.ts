import { expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { banner, type BannerOptions } from './banner.ts'

const generated = (['inference', 'management'] as const).map((kind) => ({ key: { kind }, secret: new Secret(`sk-${kind}`) }))
const options: BannerOptions = {
  url: 'http://127.0.0.1:8787',
  generated: [],
  models: 19,
  providers: ['demo'],
  dataDir: './data',
  role: 'all',
  workers: 1,
  hasConsole: true,
  command: 'npx signalbox',
}

it('with new keys, the curl command works as printed and the link to the console signs in', () => {
  const text = banner({ ...options, generated: generated as unknown as BannerOptions['generated'] })
  expect(text).toContain('Bearer sk-inference')
  expect(text).toContain('Console: http://127.0.0.1:8787/console/#key=sk-management\n')
})

it('without, neither holds a key', () => {
  const text = banner(options)
  expect(text).toContain('Bearer $SIGNALBOX_API_KEY')
  expect(text).toContain('Console: http://127.0.0.1:8787/console/\n')
  expect(text).not.toContain('#key=')
})

it('a console that is not served, or not by this process, is not mentioned', () => {
  expect(banner({ ...options, hasConsole: false })).not.toContain('onsole')
  expect(banner({ ...options, role: 'worker' })).not.toContain('onsole')
})

it('explains how to get real models where all are simulated', () => {
  expect(banner(options)).toContain('These models are simulated. Real ones are on once the usual variable of a vendor is set')
  expect(banner({ ...options, command: '/nodejs/bin/node /app/bin/signalbox.js' })).toContain(
    'vendor is set (/nodejs/bin/node /app/bin/signalbox.js check --providers lists all).',
  )
  expect(banner({ ...options, providers: ['acme', 'demo'] })).not.toContain('simulated')
})
