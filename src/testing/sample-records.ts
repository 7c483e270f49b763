import type { Generation, GenerationContent } from '../core/generation.ts'
import type { OutboxEntry, StoredDestination } from '../core/outbox.ts'
import { DEFAULT_WORKSPACE_ID, type ApiKey, type Workspace } from '../core/store.ts'
import { createUsage } from '../core/usage.ts'

/** Records as a database stores them, one of each kind. */

/** When all of them were created. */
export const NOW = 1_700_000_000_000

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

export function sampleDestination(id: string, overrides: Partial<StoredDestination> = {}): StoredDestination {
  return {
    id,
    workspaceId: DEFAULT_WORKSPACE_ID,
    type: 'webhook',
    name: `destination ${id}`,
    enabled: true,
    paused: false,
    config: { url: 'https://example.com/hook', method: 'POST' },
    sealed: null,
    apiKeyHashes: null,
    filterRules: null,
    samplingRate: 1,
    privacyMode: false,
    broadcast: { cost: false, identity: false, requestContext: false },
    revision: 1,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    ...overrides,
  }
}

/** An entry for these destinations; 1,000 bytes by default. */
export function sampleEntry(
  id: string,
  destinations: readonly string[],
  overrides: Partial<OutboxEntry> & { readonly withContent?: boolean } = {},
): OutboxEntry {
  const { withContent = true, ...rest } = overrides
  return {
    generation: sampleGeneration(id),
    ...(withContent ? { content: JSON.stringify(sampleContent) } : {}),
    deliveries: destinations.map((destinationId) => ({ destinationId, withContent })),
    bytes: 1_000,
    ...rest,
  }
}
