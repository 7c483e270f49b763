import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { createSkipReporter } from './scripts/skip-reporter.ts'

/** They hold the gateway to milliseconds or to a share of the processor: nothing may run beside them. */
const ALONE = [
  'e2e/attacks/access.test.ts',
  'e2e/attacks/callers.test.ts',
  'e2e/scenarios/abort.test.ts',
  'e2e/scenarios/mcp-faults.test.ts',
  'e2e/scenarios/overload.test.ts',
  'e2e/scenarios/redis-outage.test.ts',
  'e2e/scenarios/stream-timing.test.ts',
  'src/pipeline/guardrails/turns.test.ts',
]

/** The same, of tests that leave nothing behind: one process for all of them loads the gateway's sources once, a third of their time. */
const ALONE_TOGETHER = ['ai-sdk-op*', 'open*'].map((name) => `e2e/clients/${name}.test.ts`)

/**
 * Tests beside their sources leave nothing behind: they share a process, and load what they test once (a quarter of their time). The few that put a
 * false clock, output or environment in place or measure memory put it back, or measure before and after.
 */
const TOGETHER = ['src', 'console/src', 'scripts', 'bench'].map((room) => `${room}/**/*.test.ts`)

/** Not these: they listen to signals, end the process or put another module in a module's place. */
const APART = ['src/cli/last-resort', 'src/cli/stop-signals', 'src/wiring/egress-clients'].map((name) => `${name}.test.ts`)

/**
 * The same of scenarios that start gateways in their own process and look at nothing but what comes over sockets: each would load the gateway's
 * sources for itself, half of the time of most of them.
 */
const SCENARIOS_TOGETHER = [
  'attacks/bodies',
  'attacks/brackets',
  'attacks/canaries',
  'attacks/egress',
  'attacks/fuzz',
  'attacks/http',
  'attacks/outage',
  'attacks/paths',
  'attacks/revoked',
  'attacks/schemas',
  'attacks/unpaid',
  'attacks/upstream',
  'clients/ai-sdk-google',
  'clients/anthropic',
  'clients/codex',
  'clients/codex-tools',
  'clients/embeddings',
  'clients/guides',
  'clients/mcp',
  'clients/plugins',
  'clients/policies',
  'clients/server-tools',
  'clients/vendors',
  'coverage',
  'recorded-costs',
  'replay',
  'replay-chat',
  'scenarios/accounts-api',
  'scenarios/affinity',
  'scenarios/answer-cache',
  'scenarios/audio-money',
  'scenarios/cache-money',
  'scenarios/changed-limits',
  'scenarios/chat-parity',
  'scenarios/client-search',
  'scenarios/credentials',
  'scenarios/cross-origin',
  'scenarios/cross-dialect',
  'scenarios/debug-echo',
  'scenarios/destinations-api',
  'scenarios/early-finish',
  'scenarios/embedding-batches',
  'scenarios/embeddings',
  'scenarios/endpoint-limits',
  'scenarios/event-stream',
  'scenarios/failover',
  'scenarios/front-door',
  'scenarios/generate-content',
  'scenarios/generated-faults',
  'scenarios/generation-list',
  'scenarios/guardrail-bounds',
  'scenarios/guardrails',
  'scenarios/hourly-prices',
  'scenarios/input-tool-secrets',
  'scenarios/item-references',
  'scenarios/kept-content',
  'scenarios/limits',
  'scenarios/mcp',
  'scenarios/mcp-native',
  'scenarios/media',
  'scenarios/messages',
  'scenarios/metrics',
  'scenarios/mirror-reasoning',
  'scenarios/model-routers',
  'scenarios/money-ledger',
  'scenarios/new-keys',
  'scenarios/next-model',
  'scenarios/open-responses',
  'scenarios/openapi',
  'scenarios/picture-money',
  'scenarios/plugins',
  'scenarios/presets',
  'scenarios/prewarm',
  'scenarios/reasoning-scope',
  'scenarios/redis-commands',
  'scenarios/refused-parameters',
  'scenarios/refused-schemas',
  'scenarios/reload',
  'scenarios/round-trips',
  'scenarios/server-tools',
  'scenarios/server-tools-agents',
  'scenarios/server-tools-native',
  'scenarios/server-tools-stop',
  'scenarios/server-tools-web',
  'scenarios/service-tiers',
  'scenarios/shared-guardrails',
  'scenarios/shown-agents',
  'scenarios/silent-last-turn',
  'scenarios/sixteen-faults',
  'scenarios/stream-failure',
  'scenarios/subagent-functions',
  'scenarios/subagent-resumed',
  'scenarios/tenancy',
  'scenarios/tool-money',
  'scenarios/trace-context',
  'scenarios/turn-money',
  'scenarios/unfinished-searches',
  'scenarios/unfinished-usage',
  'scenarios/unreadable-reasoning',
  'scenarios/unstreamed-calls',
  'scenarios/unverified-accounts',
  'scenarios/variants',
  'scenarios/vendor-accounts',
  'scenarios/vendor-search-money',
  'scenarios/wordless-turn',
  'scenarios/workspace-defaults',
].map((name) => `e2e/${name}.test.ts`)

/** A browser takes most of a core: with one more than there are cores none is idle, and everything is over a seventh sooner. */
const IN_BROWSER = ['e2e/console/*.test.ts']

/** Begun last, each would go on alone when everything beside it has ended; which file takes long is not to be seen from its size. */
const LONGEST = ['e2e/console/accessibility', 'e2e/scenarios/scale-out', 'e2e/scenarios/delivery-bounds', 'e2e/scenarios/many-aborts']
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(`${name}.test.ts`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

/** A process that many files share is large, and its small collections are dear: these being rarer, one file takes 13 seconds of it instead of 42. */
const ROOM_FOR_MANY = { isolate: false, execArgv: ['--max-semi-space-size=64'] }

/**
 * Where tests look at nothing but what comes over sockets: the delivery thread's work is done in the tests' own thread, a quarter of what a gateway
 * costs to start. Real threads run in every scenario beside these, in the destinations', and in all processes that tests start.
 */
const INLINE = { SIGNALBOX_TEST_DELIVERY: 'inline' }

/** Most scenarios wait for clocks and sockets: with one more than there are processors, a quarter of their time nothing ran. */
const BESIDE = Math.max(3, availableParallelism() + 2)

// Most scenarios start a gateway, and its delivery thread loads three hundred sources anew: what was compiled once is read, a third of their time less.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    // Processes rather than threads: tests look at signals, memory and open handles, which threads share.
    pool: 'forks',
    // Only for what hangs: a busy machine takes ten seconds to start a process of ours. What has to be quick says so itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 5_000,
    // A test that leaves a timer or a socket behind keeps its process alive: say which.
    reporters: ['default', createSkipReporter(process.env)],
    globalSetup: 'src/testing/bundle-once.ts',
    sequence: { sequencer: LongestFirst },
    env: { NODE_ENV: 'test' },
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: TOGETHER,
          exclude: [...configDefaults.exclude, '**/__fixtures__/**', ...ALONE, ...APART],
          ...ROOM_FOR_MANY,
          maxWorkers: BESIDE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'scenarios', include: SCENARIOS_TOGETHER, env: INLINE, ...ROOM_FOR_MANY, maxWorkers: BESIDE, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['e2e/**/*.test.ts', ...APART],
          exclude: [...configDefaults.exclude, '**/__fixtures__/**', ...SCENARIOS_TOGETHER, ...IN_BROWSER, ...ALONE, ...ALONE_TOGETHER],
          maxWorkers: BESIDE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'in a browser',
          include: IN_BROWSER,
          env: INLINE,
          ...ROOM_FOR_MANY,
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 2 },
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: false, maxWorkers: 1, sequence: { groupOrder: 3 } } },
      { extends: true, test: { name: 'clients', include: ALONE_TOGETHER, env: INLINE, isolate: false, maxWorkers: 1, sequence: { groupOrder: 4 } } },
    ],
  },
})
