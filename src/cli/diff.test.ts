import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { diff } from './diff.ts'

describe('signalbox diff', () => {
  let folder: string
  let said: string[]
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-diff-'))
    said = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await rm(folder, { recursive: true })
  })

  async function between(before: object, after: object): Promise<readonly string[]> {
    const [config, other] = [join(folder, 'signalbox.json'), join(folder, 'next.json')]
    await writeFile(config, JSON.stringify(before))
    await writeFile(other, JSON.stringify(after))
    await diff(other, { config })
    return said.join('').split('\n').slice(1, -1)
  }

  it('says what changes, and what of it needs a new process', async () => {
    expect(await between({ server: { port: 1 } }, { server: { port: 2 }, limits: { credits: 5 } })).toEqual([
      '~ server.port: 1 -> 2 (needs a new process)',
      '+ limits.credits: 5',
    ])
  })

  it.each<[string, object, RegExp]>([
    ['a default that is no plugin', { defaults: { plugins: [{ id: 'weeb' }] } }, /next\.json.*\n.*defaults\.plugins\[0\]\.id/],
    ['a provider nobody knows', { models: [{ slug: 'a/b', endpoints: [{ provider: 'nobody' }] }] }, /models\[0\]\.endpoints\[0\]\.provider/],
    ['an address of no destination', { destinations: { base_urls: { nothing: 'http://x.test' } } }, /destinations\.base_urls\.nothing/],
  ])('refuses another file that a gateway would not take over: %s', async (_, after, message) => {
    await expect(between({}, after)).rejects.toThrow(message)
    expect(said).toEqual([])
  })
})
