import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayError } from '../core/error.ts'
import type { Generation, GenerationContent } from '../core/generation.ts'
import { DEFAULT_WORKSPACE_ID, type ApiKey, type Store, type Workspace } from '../core/store.ts'
import { createUsage } from '../core/usage.ts'

/** One fresh, empty database. */
export interface StoreUnderTest {
  readonly store: Store
  /** A second process on the same database. */
  readonly openAnother: () => Promise<Store>
  /** Closes the store and removes the database. */
  readonly dispose: () => Promise<void>
}

const NOW = 1_700_000_000_000

export function sampleWorkspace(id: string, overrides: Partial<Workspace> = {}): Workspace {
  return { id, slug: id, name: `Workspace ${id}`, description: null, isDefault: false, createdAt: NOW, updatedAt: NOW, settings: {}, ...overrides }
}

export function sampleKey(hash: string, overrides: Partial<ApiKey> = {}): ApiKey {
  return {
    hash,
    kind: 'inference',
    workspaceId: DEFAULT_WORKSPACE_ID,
    name: `key ${hash}`,
    label: 'sk-sb-v1-abc...xyz',
    disabled: false,
    createdAt: NOW,
    updatedAt: NOW,
    expiresAt: null,
    revokedAt: null,
    creatorUserId: null,
    settings: {},
    ...overrides,
  }
}

export function sampleGeneration(id: string, overrides: Partial<Generation> = {}): Generation {
  return {
    id,
    workspaceId: DEFAULT_WORKSPACE_ID,
    keyHash: 'a'.repeat(64),
    keyName: 'first key',
    apiType: 'responses',
    sessionId: 'session-1',
    requestedModel: 'acme/small',
    model: 'acme/small',
    provider: 'acme',
    providerName: 'Acme',
    upstreamModel: 'small-1',
    endpointId: 'acme/small@acme#small-1',
    isByok: false,
    streamed: true,
    status: 'completed',
    finishReason: 'stop',
    httpStatus: 200,
    startedAt: NOW,
    endedAt: NOW + 900,
    firstTokenMs: 210.25,
    durationMs: 900.5,
    usage: createUsage({ inputTokens: 100, cachedTokens: 40, outputTokens: 50, reasoningTokens: 10 }),
    cost: { total: 0.00123, input: 0.001, output: 0.00023, cacheDiscount: 0.0002, source: 'catalog' },
    strategy: 'direct',
    attempts: [
      {
        provider: 'acme',
        providerName: 'Acme',
        model: 'acme/small',
        upstreamModel: 'small-1',
        endpointId: 'acme/small@acme#small-1',
        status: 200,
        startedAt: NOW + 2,
        firstTokenMs: 208,
        durationMs: 897,
      },
    ],
    pipeline: [],
    trace: { trace_id: 'trace-1', team: 'blue' },
    metadata: { ticket: '42' },
    parameters: { temperature: 0.2 },
    ...overrides,
  }
}

export const sampleContent: GenerationContent = {
  instructions: 'Be brief.',
  input: [{ type: 'message', role: 'user', content: 'Say hello.' }],
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
}

/** What every database behind the `Store` port does alike. */
export function describeStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describeStore(name, open, (current) => describeSeveralProcesses(current))
}

/** The same for a database that belongs to one process. */
export function describePrivateStoreContract(name: string, open: () => Promise<Omit<StoreUnderTest, 'openAnother'>>): void {
  describeStore(name, open, () => undefined)
}

function describeStore<T extends Omit<StoreUnderTest, 'openAnother'>>(
  name: string,
  open: () => Promise<T>,
  describeMore: (current: () => T) => void,
): void {
  describe(`store contract: ${name}`, () => {
    let under: T
    let store: Store
    beforeEach(async () => {
      under = await open()
      store = under.store
      await store.migrate()
    })
    afterEach(() => under.dispose())

    describe('migrations', () => {
      it('are applied once and then none is pending', async () => {
        expect(await store.pendingMigrations()).toEqual([])
        expect(await store.migrate()).toEqual([])
      })

      it('answers a ping', async () => {
        await expect(store.ping()).resolves.toBeUndefined()
      })
    })

    describe('workspaces', () => {
      it('creates the default workspace once, however many ask at the same time', async () => {
        const all = await Promise.all(Array.from({ length: 8 }, () => store.workspaces.default()))
        expect(new Set(all.map(({ id }) => id))).toEqual(new Set([DEFAULT_WORKSPACE_ID]))
        expect(await store.workspaces.list()).toHaveLength(1)
        expect(all[0]).toMatchObject({ slug: 'default', isDefault: true, settings: {} })
      })

      it('returns what was inserted, field by field', async () => {
        const workspace = sampleWorkspace('w1', {
          description: 'All of “it”',
          settings: { io_logging_sampling_rate: 0.5, nested: { list: [1, null] } },
        })
        await store.workspaces.insert(workspace)
        expect(await store.workspaces.get('w1')).toEqual(workspace)
        expect(await store.workspaces.list()).toEqual([workspace])
        expect(await store.workspaces.get('w2')).toBeUndefined()
      })

      it('changes only what a patch names', async () => {
        const workspace = sampleWorkspace('w1', { description: 'old', settings: { a: 1 } })
        await store.workspaces.insert(workspace)
        const changed = await store.workspaces.update('w1', { description: null, updatedAt: NOW + 5 })
        expect(changed).toEqual({ ...workspace, description: null, updatedAt: NOW + 5 })
        expect(await store.workspaces.get('w1')).toEqual(changed)
        expect(await store.workspaces.update('w1', {})).toEqual(changed)
        expect(await store.workspaces.update('missing', { name: 'x' })).toBeUndefined()
      })

      it('refuses a second workspace with the same id or slug, and a second default', async () => {
        await store.workspaces.default()
        await store.workspaces.insert(sampleWorkspace('w1'))
        await expect(store.workspaces.insert(sampleWorkspace('w1', { slug: 'other' }))).rejects.toMatchObject({ errorType: 'conflict' })
        await expect(store.workspaces.insert(sampleWorkspace('w2', { slug: 'w1' }))).rejects.toMatchObject({ errorType: 'conflict' })
        await expect(store.workspaces.insert(sampleWorkspace('w3', { isDefault: true }))).rejects.toMatchObject({ errorType: 'conflict' })
        expect((await store.workspaces.list()).map(({ id }) => id).sort()).toEqual([DEFAULT_WORKSPACE_ID, 'w1'])
      })

      it('takes its keys with it when it is removed, and never removes the default', async () => {
        await store.workspaces.default()
        await store.workspaces.insert(sampleWorkspace('w1'))
        await store.keys.insert(sampleKey('h1', { workspaceId: 'w1' }))
        await store.keys.insert(sampleKey('h2'))
        expect(await store.workspaces.remove('w1')).toBe(true)
        expect(await store.workspaces.remove('w1')).toBe(false)
        expect((await store.keys.list()).map(({ hash }) => hash)).toEqual(['h2'])
        await expect(store.workspaces.remove(DEFAULT_WORKSPACE_ID)).rejects.toMatchObject({ errorType: 'conflict' })
        expect(await store.workspaces.get(DEFAULT_WORKSPACE_ID)).toBeDefined()
      })
    })

    describe('keys', () => {
      beforeEach(() => store.workspaces.default())

      it('returns what was inserted, field by field', async () => {
        const full = sampleKey('h1', {
          kind: 'management',
          disabled: true,
          expiresAt: NOW + 1_000,
          revokedAt: NOW + 500,
          creatorUserId: 'user-1',
          origin: 'environment',
          settings: { limit: 12.5, limit_reset: 'monthly' },
        })
        const plain = sampleKey('h2', { createdAt: NOW + 1 })
        await store.keys.insert(full)
        await store.keys.insert(plain)
        expect(await store.keys.get('h1')).toEqual(full)
        expect(await store.keys.list()).toEqual([full, plain])
        expect(await store.keys.get('h3')).toBeUndefined()
      })

      it('lists the keys of one workspace', async () => {
        await store.workspaces.insert(sampleWorkspace('w1'))
        await store.keys.insert(sampleKey('h1'))
        await store.keys.insert(sampleKey('h2', { workspaceId: 'w1' }))
        expect((await store.keys.list({ workspaceId: 'w1' })).map(({ hash }) => hash)).toEqual(['h2'])
      })

      it('changes only what a patch names; null clears', async () => {
        const key = sampleKey('h1', { expiresAt: NOW + 1, origin: 'environment', settings: { limit: 1 } })
        await store.keys.insert(key)
        const changed = await store.keys.update('h1', { revokedAt: NOW + 9, expiresAt: null, origin: null })
        const { origin: _origin, ...withoutOrigin } = key
        expect(changed).toEqual({ ...withoutOrigin, revokedAt: NOW + 9, expiresAt: null })
        expect(await store.keys.get('h1')).toEqual(changed)
        expect(await store.keys.update('h2', { name: 'x' })).toBeUndefined()
      })

      it('keeps what it had when a change refuses', async () => {
        await store.keys.insert(sampleKey('h1'))
        const version = await store.version()
        const refusal = new GatewayError('conflict', 'revoked')
        const refuse = (): never => {
          throw refusal
        }
        await expect(store.keys.modify('h1', refuse)).rejects.toBe(refusal)
        expect(await store.keys.get('h1')).toEqual(sampleKey('h1'))
        expect(await store.version()).toBe(version)
      })

      it('refuses a hash twice and a workspace that is not there', async () => {
        await store.keys.insert(sampleKey('h1'))
        await expect(store.keys.insert(sampleKey('h1', { name: 'again' }))).rejects.toMatchObject({ errorType: 'conflict' })
        await expect(store.keys.insert(sampleKey('h2', { workspaceId: 'nowhere' }))).rejects.toMatchObject({ errorType: 'not_found' })
        expect(await store.keys.list()).toHaveLength(1)
      })

      it('removes a key once', async () => {
        await store.keys.insert(sampleKey('h1'))
        expect(await store.keys.remove('h1')).toBe(true)
        expect(await store.keys.remove('h1')).toBe(false)
        expect(await store.keys.get('h1')).toBeUndefined()
      })

      it('treats any text as data', async () => {
        const hostile = `'; drop table api_keys; -- " \\ %_ \u2028 😀`
        await store.keys.insert(sampleKey(hostile, { name: hostile, settings: { [hostile]: hostile } }))
        expect(await store.keys.get(hostile)).toMatchObject({ name: hostile, settings: { [hostile]: hostile } })
        expect(await store.keys.get(`' or '1'='1`)).toBeUndefined()
      })
    })

    describe('version', () => {
      it('grows with every change of configuration and with nothing else', async () => {
        let version = await store.version()
        const grows = async (change: () => Promise<unknown>, by = 1) => {
          await change().catch(() => undefined)
          const next = await store.version()
          expect({ change: change.toString(), by: next - version }).toEqual({ change: change.toString(), by })
          version = next
        }
        await grows(() => store.workspaces.default())
        await grows(() => store.workspaces.default(), 0)
        await grows(() => store.workspaces.insert(sampleWorkspace('w1')))
        await grows(() => store.workspaces.update('w1', { name: 'x' }))
        await grows(() => store.keys.insert(sampleKey('h1')))
        await grows(() => store.keys.insert(sampleKey('h1')), 0)
        await grows(() => store.keys.update('h1', { disabled: true }))
        await grows(() => store.keys.update('missing', { disabled: true }), 0)
        await grows(() => store.keys.modify('h1', () => ({ disabled: false })))
        await grows(() => store.keys.modify('missing', () => ({ disabled: false })), 0)
        await grows(() => store.keys.remove('h1'))
        await grows(() => store.keys.remove('h1'), 0)
        await grows(() => store.workspaces.remove(DEFAULT_WORKSPACE_ID), 0)
        await grows(() => store.workspaces.remove('w1'))
        await grows(() => store.generations.insertMany([{ generation: sampleGeneration('g1') }]), 0)
        await grows(() => store.facts.replace('f', undefined, '1'), 0)
      })

      it('counts changes made at the same time one by one', async () => {
        await store.workspaces.default()
        const before = await store.version()
        await Promise.all(Array.from({ length: 20 }, (_, i) => store.keys.insert(sampleKey(`h${i}`))))
        expect(await store.version()).toBe(before + 20)
      })
    })

    describe('facts', () => {
      it('are written only over the value the writer knew', async () => {
        expect(await store.facts.get('canary')).toBeUndefined()
        expect(await store.facts.replace('canary', 'other', 'x')).toBe(false)
        expect(await store.facts.replace('canary', undefined, 'one')).toBe(true)
        expect(await store.facts.replace('canary', undefined, 'two')).toBe(false)
        expect(await store.facts.replace('canary', 'one', 'two')).toBe(true)
        expect(await store.facts.get('canary')).toBe('two')
      })

      it('have one winner', async () => {
        const results = await Promise.all(Array.from({ length: 6 }, (_, i) => store.facts.replace('canary', undefined, String(i))))
        expect(results.filter(Boolean)).toHaveLength(1)
      })
    })

    describe('generations', () => {
      it('returns the record as it was, to its workspace only', async () => {
        const generation = sampleGeneration('gen-1')
        await store.generations.insertMany([{ generation }])
        expect(await store.generations.get('gen-1')).toEqual(generation)
        expect(await store.generations.get('gen-1', DEFAULT_WORKSPACE_ID)).toEqual(generation)
        expect(await store.generations.get('gen-1', 'another')).toBeUndefined()
        expect(await store.generations.get('gen-2')).toBeUndefined()
      })

      it('keeps content only where it was handed over', async () => {
        await store.generations.insertMany([
          { generation: sampleGeneration('gen-1') },
          { generation: sampleGeneration('gen-2'), content: sampleContent },
          { generation: sampleGeneration('gen-3') },
        ])
        expect(await store.generations.content('gen-1')).toBeUndefined()
        expect(await store.generations.content('gen-2')).toEqual(sampleContent)
        expect(await store.generations.content('gen-2', DEFAULT_WORKSPACE_ID)).toEqual(sampleContent)
        expect(await store.generations.content('gen-2', 'another')).toBeUndefined()
      })

      it('leaves ids that exist as they are', async () => {
        await store.generations.insertMany([{ generation: sampleGeneration('gen-1'), content: sampleContent }])
        await store.generations.insertMany([
          { generation: sampleGeneration('gen-1', { status: 'failed' }), content: { input: [], output: [] } },
          { generation: sampleGeneration('gen-2') },
        ])
        expect((await store.generations.get('gen-1'))?.status).toBe('completed')
        expect(await store.generations.content('gen-1')).toEqual(sampleContent)
        expect(await store.generations.get('gen-2')).toBeDefined()
      })

      it('takes a batch of any size', async () => {
        await store.generations.insertMany([])
        for (const size of [1, 2, 127, 128, 129, 200, 1_000]) {
          const batch = Array.from({ length: size }, (_, i) => ({ generation: sampleGeneration(`gen-${size}-${i}`) }))
          await store.generations.insertMany(batch)
          expect((await store.generations.get(`gen-${size}-${size - 1}`))?.id).toBe(`gen-${size}-${size - 1}`)
          expect((await store.generations.get(`gen-${size}-0`))?.id).toBe(`gen-${size}-0`)
        }
      })

      it('takes a failed call that reached nobody', async () => {
        const generation: Generation = {
          id: 'gen-1',
          workspaceId: 'gone',
          keyHash: 'h',
          keyName: 'k',
          apiType: 'responses',
          requestedModel: 'no/such',
          isByok: false,
          streamed: false,
          status: 'failed',
          errorType: 'not_found',
          httpStatus: 404,
          startedAt: NOW,
          endedAt: NOW,
          durationMs: 0,
          usage: createUsage({}),
          cost: { total: 0, input: 0, output: 0, cacheDiscount: 0, source: 'unknown' },
          strategy: 'direct',
          attempts: [],
          pipeline: [],
          parameters: {},
        }
        await store.generations.insertMany([{ generation }])
        expect(await store.generations.get('gen-1')).toEqual(generation)
      })

      it('survives text no database likes: NUL, lone surrogates, quotes', async () => {
        const odd = `a\0b\ud800c'"\\`
        await store.generations.insertMany([
          {
            generation: sampleGeneration('gen-1', { sessionId: odd, model: odd, metadata: { odd } }),
            content: { ...sampleContent, instructions: odd },
          },
        ])
        expect((await store.generations.get('gen-1'))?.metadata).toEqual({ odd })
        expect((await store.generations.content('gen-1'))?.instructions).toBe(odd)
      })

      it('leaves out what would make a record megabytes, and media from content', async () => {
        const megabytes = 'x'.repeat(3_000_000)
        await store.generations.insertMany([
          {
            generation: sampleGeneration('gen-1', { trace: { blob: megabytes }, parameters: { blob: megabytes } }),
            content: {
              input: [{ type: 'message', role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(5_000)}` }] }],
              output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: megabytes }] }],
            },
          },
        ])
        const generation = await store.generations.get('gen-1')
        expect(JSON.stringify(generation).length).toBeLessThan(10_000)
        expect(generation).toMatchObject({ status: 'completed', usage: { inputTokens: 100 }, trace: { omitted: expect.any(String) } })
        const content = JSON.stringify(await store.generations.content('gen-1'))
        expect(content.length).toBeLessThan(1_000)
        expect(content).toContain('[omitted: image/png, 5022 characters]')
        expect(content).toContain('[omitted: text, 3000000 characters]')
      })

      it('keeps ids and names of a trace that is left out: destinations find the call by them', async () => {
        const names = { trace_id: 'order-7', trace_name: 'Checkout', span_name: 'Ask', generation_name: 'Draft', parent_span_id: 'b7ad6b7169203331' }
        const blob = 'x'.repeat(300_000)
        await store.generations.insertMany([
          { generation: sampleGeneration('gen-1', { trace: { blob, ...names, environment: 'live', release: blob } }), content: sampleContent },
        ])
        const { trace } = (await store.generations.get('gen-1'))!
        expect(trace).toEqual({ omitted: expect.any(String), ...names, environment: 'live' })
      })

      it('takes a record whose caller nested values deeper than JSON can be written', async () => {
        const deep = Array.from({ length: 50_000 }).reduce<object>((inner) => ({ inner }), {})
        const content: GenerationContent = { input: [{ type: 'function_call_output', deep }], output: [] }
        await store.generations.insertMany([
          { generation: sampleGeneration('gen-1', { trace: { deep } }), content },
          { generation: sampleGeneration('gen-2', { parameters: { deep } }), content: sampleContent },
        ])
        expect(await store.generations.get('gen-1')).toMatchObject({ status: 'completed', trace: { omitted: expect.any(String) } })
        expect(await store.generations.content('gen-1')).toBeUndefined()
        expect(await store.generations.content('gen-2')).toEqual(sampleContent)
      })

      it('refuses what no record can be, as a fault of the data', async () => {
        const impossible = sampleGeneration('gen-1', { httpStatus: 1n as unknown as number })
        await expect(store.generations.insertMany([{ generation: impossible }])).rejects.toMatchObject({ errorType: 'server' })
      })

      it('prunes the oldest in batches, content included', async () => {
        const batch = Array.from({ length: 10 }, (_, i) => ({
          generation: sampleGeneration(`gen-${i}`, { startedAt: NOW + i }),
          content: sampleContent,
        }))
        await store.generations.insertMany(batch)
        expect(await store.retention.expire('generations', NOW + 7, 5)).toEqual({ deleted: 5, more: true })
        expect(await store.generations.get('gen-4')).toBeUndefined()
        expect(await store.generations.content('gen-4')).toBeUndefined()
        expect(await store.generations.get('gen-5')).toBeDefined()
        expect(await store.retention.expire('generations', NOW + 7, 5)).toEqual({ deleted: 2, more: false })
        expect(await store.retention.expire('generations', NOW + 7, 5)).toEqual({ deleted: 0, more: false })
        expect(await store.generations.content('gen-7')).toEqual(sampleContent)
      })
    })

    describeMore(() => under)

    it('closes more than once, and refuses work afterwards with a GatewayError', async () => {
      await store.close()
      await store.close()
      await expect(store.version()).rejects.toMatchObject({ errorType: 'provider_overloaded' })
    })
  })
}

function describeSeveralProcesses(current: () => StoreUnderTest): void {
  describe('several processes', () => {
    it('see each other’s changes and version', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        expect(await other.pendingMigrations()).toEqual([])
        await store.workspaces.default()
        const version = await other.version()
        await store.keys.insert(sampleKey('h1'))
        expect(await other.version()).toBe(version + 1)
        await other.keys.update('h1', { revokedAt: NOW })
        expect((await store.keys.get('h1'))?.revokedAt).toBe(NOW)
      } finally {
        await other.close()
      }
    })

    it('lose no setting of a key that both change at once', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        await store.workspaces.default()
        await store.keys.insert(sampleKey('h1', { settings: { limit: 1 } }))
        const set = (from: Store, name: string) => from.keys.modify('h1', ({ settings }) => ({ settings: { ...settings, [name]: true } }))
        await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name, n) => set(n % 2 === 0 ? store : other, name)))
        expect((await store.keys.get('h1'))?.settings).toEqual({ limit: 1, a: true, b: true, c: true, d: true, e: true, f: true })
      } finally {
        await other.close()
      }
    })

    it('write at the same time without losing anything', async () => {
      const { store, openAnother } = current()
      const other = await openAnother()
      try {
        const write = async (target: Store, prefix: string) => {
          for (let i = 0; i < 20; i++) {
            await target.generations.insertMany([{ generation: sampleGeneration(`${prefix}-${i}`) }])
            await target.facts.replace(`${prefix}-${i}`, undefined, 'x')
          }
        }
        await Promise.all([write(store, 'a'), write(other, 'b')])
        for (const id of ['a-0', 'a-19', 'b-0', 'b-19']) expect(await store.generations.get(id)).toBeDefined()
      } finally {
        await other.close()
      }
    })
  })
}
