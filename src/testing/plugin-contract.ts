import { describe, expect, it } from 'vitest'
import type { Handler } from '../core/call.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Plugin, PluginEffects } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { testCall, testContext, type ContextParts } from './plugin-context.ts'

/** A word that only occurs in the caller's content. */
export const SECRET_WORD = 'xylophonist'

/** A call that the plugin handles. */
export interface PluginCase extends Omit<ContextParts, 'request'> {
  readonly request: ModelRequest
  readonly settings?: unknown
  /** The endpoint that the request is adapted to, for plugins that adapt. */
  readonly endpoint?: Endpoint
  /** What the models answer, for plugins that wrap. */
  readonly answer?: readonly (readonly ModelEvent[])[]
}

export interface PluginContractOptions<S> {
  readonly plugin: Plugin<S>
  /** Entries of `plugins`, without `id`. */
  readonly accepts: readonly object[]
  readonly refuses: readonly object[]
  /** Calls that it does not change. */
  readonly untouched: readonly PluginCase[]
  /** Calls that it changes or refuses; the caller's content in them contains `SECRET_WORD`. */
  readonly touched: readonly PluginCase[]
}

const STAGE_TYPES = ['guardrail', 'plugin', 'server_tools', 'response_healing', 'context_compression']

/** What every plugin must do, whatever its purpose. */
export function describePluginContract<S>({ plugin, accepts, refuses, untouched, touched }: PluginContractOptions<S>): void {
  describe(`the contract of plugins: ${plugin.id}`, () => {
    it('has a name callers can write', () => expect(plugin.id).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/))

    it('does something', () => {
      expect([plugin.choose, plugin.prepare, plugin.wrap, plugin.adapts].some((hook) => hook !== undefined)).toBe(true)
    })

    it.each(accepts)('accepts the settings %j', (settings) => expect(plugin.settings.safeParse(settings).success).toBe(true))
    it.each(refuses)('refuses the settings %j and says where', (settings) => {
      const read = plugin.settings.safeParse(settings)
      expect(read.error?.issues[0]?.path.length ?? 0).toBeGreaterThan(0)
    })

    it.each(untouched.map((one, n) => [n + 1, one] as const))('does not change requests that need nothing (%i)', async (_n, one) => {
      const { changed, events, reported } = await run(plugin, one)
      expect(changed).toBeUndefined()
      expect(events).toEqual(one.answer ?? [])
      expect(reported.flatMap(({ stage }) => stage ?? [])).toEqual([])
    })

    describe.each(touched.map((one, n) => [n + 1, one] as const))('a request it applies to (%i)', (_n, one) => {
      it('leaves one stage in the shape of the contract', async () => {
        const { reported } = await run(plugin, one)
        const stages = reported.flatMap(({ stage }) => stage ?? [])
        expect(stages.length).toBeGreaterThan(0)
        for (const { type, name, summary, data } of stages) {
          expect(STAGE_TYPES).toContain(type)
          expect(name).toMatch(/^[a-z][a-z0-9_-]*$/)
          expect(summary ?? 'x').not.toBe('')
          expect(JSON.parse(JSON.stringify(data ?? {}))).toEqual(data ?? {})
        }
      })

      it('repeats no text of the caller', async () => {
        expect(JSON.stringify(one.request)).toContain(SECRET_WORD)
        const { reported } = await run(plugin, one)
        expect(JSON.stringify(reported.map(({ stage }) => stage))).not.toContain(SECRET_WORD)
      })

      it('has valid counts and prices', async () => {
        const { reported } = await run(plugin, one)
        for (const { cost, usage } of reported) {
          for (const figure of [cost ?? 0, ...Object.values(usage ?? {})]) expect(Number.isFinite(figure) && figure >= 0).toBe(true)
        }
      })

      it('does the same twice', async () => {
        const first = await run(plugin, one)
        expect(await run(plugin, one)).toEqual(first)
      })

      it('ends when the caller is gone', async () => {
        const gone = await run(plugin, { ...one, signal: AbortSignal.abort() })
        expect(gone).toBeDefined()
      }, 2_000)
    })
  })
}

interface Outcome {
  readonly changed: ModelRequest | undefined
  readonly events: readonly (readonly ModelEvent[])[]
  readonly reported: readonly PluginEffects[]
  readonly refusal?: string
}

/** Everything that a plugin does for one call; the request is frozen, so that changing it in place throws. */
async function run<S>(plugin: Plugin<S>, { request, settings, endpoint, answer = [], ...parts }: PluginCase): Promise<Outcome> {
  const frozen = deepFreeze(structuredClone(request))
  const read = plugin.settings.parse(settings ?? {})
  const { context, reported } = testContext(read, { ...parts, request: frozen })
  const events: (readonly ModelEvent[])[] = []
  let changed: ModelRequest | undefined
  try {
    plugin.check?.(read)
    const choice = await plugin.choose?.(frozen, context)
    if (choice !== undefined) changed = { ...frozen, model: choice.models[0] }
    changed = (await plugin.prepare?.(changed ?? frozen, context)) ?? changed
    if (plugin.adapts !== undefined && endpoint !== undefined)
      changed = (await plugin.adapts.adapt(changed ?? frozen, endpoint, context, false)) ?? changed
    const models: Handler = async function* () {
      yield* answer
    }
    const handler = plugin.wrap?.(models, changed ?? frozen, context) ?? models
    for await (const batch of handler({ ...testCall(parts), request: changed ?? frozen })) events.push(batch)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { changed, events, reported, refusal: error.message }
  }
  return { changed, events, reported }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
