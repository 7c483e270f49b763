import { createKnownOwnKeys } from '../accounts/last-known-good.ts'
import { createLimitBook } from '../accounts/limits.ts'
import { createOwnKeyRing, type OwnKeyRing } from '../accounts/own-keys.ts'
import type { Boot } from './boot.ts'
import { createCostOf } from '../catalog/cost.ts'
import { KEY_FAILURES } from '../core/account.ts'
import { parseSubject, type CallLimits } from '../core/call-limits.ts'
import type { Call, Owner } from '../core/call.ts'
import type { Config } from '../core/config.ts'
import { addSpent, type Counter, type SpentLoader } from '../core/counter.ts'
import type { Catalog } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { GenerationSink } from '../core/generation.ts'
import type { Guardrails } from '../core/guardrail.ts'
import type { Store } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { createCountRequest, type CountRequest } from '../pipeline/count-request.ts'
import { createLimits, type Limits, type LimitsOptions } from '../pipeline/limits.ts'
import { ownCredentialsOf, type OwnCredentials } from '../pipeline/own-credentials.ts'
import type { CooldownChannel } from '../router/health.ts'
import type { PinStore } from '../router/sticky.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { createMemoryCounter, type MemoryCounterOptions } from '../store/shared-state/memory.ts'

/** What the processes of one installation share. Without Redis, nothing. */
interface SharedState {
  readonly counter: Counter
  readonly pins?: PinStore
  readonly cooldowns?: CooldownChannel
  readonly answers?: () => boolean
  close(): Promise<void>
}

/** Spending, limits and callers' own provider keys, as the pipeline uses them. */
export interface Accounting {
  readonly limits: Limits
  /** The limits of an owner's calls; undefined if there are none. */
  readonly limitsOf: (owner: Owner) => CallLimits | undefined
  /** Throws `authentication` when the key of an owner was taken away since it was accepted. */
  readonly mayGoOn: (owner: Owner) => void
  /** For requests that cost money without asking a model. */
  readonly countRequest: CountRequest
  readonly ownKeys: OwnKeyRing
  readonly ownCredentials: (call: Pick<Call, 'owner'>) => OwnCredentials | undefined
  readonly pins?: PinStore
  readonly cooldowns?: CooldownChannel
  /** Whether the shared state can be reached; undefined if processes share nothing. */
  readonly sharedStateAnswers: () => boolean | undefined
  close(): Promise<void>
}

export interface AccountingOptions {
  readonly config: () => Config
  readonly state: Boot
  readonly sink: Pick<GenerationSink, 'flush'>
  readonly catalog: () => Catalog
  readonly logger: Logger
  readonly defaults: LimitsOptions['defaults']
  readonly guardrails: Guardrails
  readonly metrics: Pick<Metrics, 'passedOver' | 'limited'>
}

/** Wires counters, limits and own keys. The start does not depend on Redis being there. */
export async function openAccounting({
  config,
  state,
  sink,
  catalog,
  logger,
  defaults,
  guardrails,
  metrics,
}: AccountingOptions): Promise<Accounting> {
  const shared = await openSharedState(config, createSpentLoader(state.store, sink), logger)
  const ownKeys = createOwnKeyRing({
    store: state.store,
    encryption: state.encryption,
    clock: systemClock,
    lastKnownGood: createKnownOwnKeys(state.directory.ownKeysFile),
    onUnreadable: (id, error) => logger.warn({ id, error }, 'a provider key of a workspace cannot be decrypted and is left out'),
    onOutdated: (ids) =>
      logger.warn({ ids }, 'the secret key was changed while this process ran: provider keys stay as they were; restart it with the new one'),
  })
  // Without the database the last known keys serve until it is back.
  await ownKeys.start({ databaseIsAway: !state.accounts.answers() }).catch(() => undefined)
  const ownCredentials = ({ owner }: Pick<Call, 'owner'>): OwnCredentials | undefined => ownCredentialsOf(ownKeys, owner)
  const limitsOf = createLimitBook(state.accounts.snapshot, () => config().limits, guardrails)
  const limits = createLimits({
    counter: shared.counter,
    limitsOf,
    catalog,
    costOf: createCostOf(systemClock),
    policy: () => config().limits,
    defaults,
    mayUseOwnKeys: (call) => ownCredentials(call) !== undefined,
    onFull: metrics.passedOver,
    onLimited: metrics.limited,
  })
  return {
    limits,
    limitsOf,
    mayGoOn: ({ keyHash, secretHash = keyHash }) => {
      const failure = state.accounts.snapshot.ended(secretHash)
      if (failure !== undefined) throw new GatewayError('authentication', KEY_FAILURES[failure])
    },
    countRequest: createCountRequest({ counter: shared.counter, limitsOf }),
    ownKeys,
    ownCredentials,
    ...(shared.pins === undefined ? {} : { pins: shared.pins }),
    ...(shared.cooldowns === undefined ? {} : { cooldowns: shared.cooldowns }),
    sharedStateAnswers: () => shared.answers?.(),
    async close() {
      await ownKeys.close()
      await shared.close()
    },
  }
}

/** What a subject has spent: the database's figure, with the records that this process has not written yet. */
function createSpentLoader(store: Pick<Store, 'spend'>, sink: Pick<GenerationSink, 'flush'>): SpentLoader {
  return async (subject, now) => {
    await sink.flush().catch(() => undefined)
    const { owner, includeByok } = parseSubject(subject)
    const { usd, byokUsd } = await store.spend.of(owner, now)
    return includeByok ? addSpent(usd, byokUsd) : usd
  }
}

async function openSharedState(config: () => Config, load: SpentLoader, logger: Logger): Promise<SharedState> {
  const whenUnknown = (): Config['limits']['whenUnknown'] => config().limits.whenUnknown
  const { shared, redisUrl, redisNamespace: namespace } = config().storage
  if (shared !== 'redis' || redisUrl === undefined) return createAlone({ load, whenUnknown })
  // The client is loaded only where state is shared.
  const [{ connectRedis, disconnectRedis, firstContact }, { createRedisCounter }, { createRedisCooldowns, createRedisPins }, { createOutageLog }] =
    await Promise.all([
      import('../store/shared-state/redis-client.ts'),
      import('../store/shared-state/redis.ts'),
      import('../store/shared-state/redis-routing.ts'),
      import('../store/shared-state/outage-log.ts'),
    ])
  const outages = createOutageLog(logger)
  const redis = connectRedis({ url: redisUrl, logger, outages, name: 'commands' })
  const subscriber = connectRedis({ url: redisUrl, logger, outages, name: 'subscriber' })
  const onTrouble = (error: Error | undefined): void => outages.tell('counting', error)
  let isRefusalTold = false
  const onRefused = (error: Error): void => {
    if (!isRefusalTold)
      logger.warn({ error: error.message }, 'the shared state refuses its channels: cooldowns and moved sessions are not shared between processes')
    isRefusalTold = true
  }
  await Promise.all([firstContact(redis), firstContact(subscriber)])
  const counter = createRedisCounter({ redis, clock: systemClock, namespace, load, whenUnknown, onTrouble })
  return {
    counter,
    pins: createRedisPins(redis, subscriber, namespace, onRefused),
    cooldowns: createRedisCooldowns(redis, subscriber, namespace, onRefused),
    answers: counter.answers,
    async close() {
      await counter.close()
      await disconnectRedis(subscriber)
      await disconnectRedis(redis)
    },
  }
}

function createAlone(options: MemoryCounterOptions): SharedState {
  const counter = createMemoryCounter(options)
  return { counter, close: () => counter.close() }
}
