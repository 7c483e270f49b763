import type { Adaptation, Call, Handler, Layer } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Plugin, PluginEntry } from '../core/extension.ts'
import type { ModelRequest } from '../core/request.ts'
import { NO_ADAPTATION } from './no-adaptation.ts'
import { CitationPass } from './plugin-citations.ts'
import { PluginRun, reachOf, type PluginRunOptions } from './plugin-run.ts'
import { createPluginRegistry, isSwitchedOff, selectPlugins, type ActivePlugin, type PluginRegistry } from './plugin-select.ts'

export interface PluginOptions extends PluginRunOptions {
  /** Plugins in order; if there are none the layer does nothing. */
  readonly plugins?: () => readonly Plugin[]
  /** `defaults.plugins` of the configuration. */
  readonly pluginDefaults?: () => readonly PluginEntry[]
}

export interface PluginRoom {
  /** Between limits and tool loop: what a plugin does to a request happens once, however many turns there are. */
  readonly layer: Layer
  /** How requests are adapted to endpoints that cannot take them as they are, for calls without plugins of their own. */
  readonly standing: () => Adaptation | undefined
  /** How plugins affect a call beyond its request: those that apply, with the operator's settings. Throws for settings that a plugin refuses. */
  readonly partIn: (call: Call) => readonly unknown[]
}

const NO_PLUGINS: readonly Plugin[] = []
const NO_DEFAULTS: readonly PluginEntry[] = []

/** Runs plugins around the call. A call that names none pays one look at its request. */
export function createPluginRoom(options: PluginOptions): PluginRoom {
  let registry = createPluginRegistry(NO_PLUGINS, NO_DEFAULTS)
  let standing: Adaptation | undefined
  let made: { readonly plugins: readonly Plugin[]; readonly defaults: readonly PluginEntry[] } = { plugins: NO_PLUGINS, defaults: NO_DEFAULTS }
  let behind: Handler | undefined
  const current = (): PluginRegistry => {
    const plugins = options.plugins?.() ?? NO_PLUGINS
    const defaults = options.pluginDefaults?.() ?? NO_DEFAULTS
    if (plugins !== made.plugins || defaults !== made.defaults) {
      registry = createPluginRegistry(plugins, defaults)
      standing = standingAdaptation(options, registry.standing, () => behind!)
      made = { plugins, defaults }
    }
    return registry
  }
  return {
    layer: (next) => {
      behind = next
      return (call) => {
        const now = current()
        const active = selectPlugins(call.request, now)
        return active === undefined ? next(call) : runPlugins(options, now, active, call, next)
      }
    },
    standing: () => {
      current()
      return standing
    },
    partIn: ({ request, stream }) =>
      (selectPlugins(request, current()) ?? []).map(({ plugin, settings }) => [
        plugin.id,
        settings,
        stream && plugin.sparesStreams?.(request) === true,
      ]),
  }
}

/** The adaptation for calls without plugins; nothing is created for a call before an endpoint needs it. */
function standingAdaptation(options: PluginOptions, adapting: readonly ActivePlugin[], next: () => Handler): Adaptation | undefined {
  if (adapting.length === 0) return undefined
  const runs = new WeakMap<Call['trace'], Adaptation>()
  return {
    ...reachOf(adapting),
    adapt(call, request, endpoint, tooLong) {
      let own = runs.get(call.trace)
      if (own === undefined) {
        const run = new PluginRun(options, call, next())
        own = run.adaptation(adapting)!
        runs.set(call.trace, own)
        call.trace.withBought = (cost) => run.withShare(cost)
      }
      return own.adapt(call, request, endpoint, tooLong)
    },
  }
}

async function* runPlugins(
  options: PluginOptions,
  registry: PluginRegistry,
  active: readonly ActivePlugin[],
  begun: Call,
  next: Handler,
): AsyncGenerator<readonly ModelEvent[], void> {
  // What plugins do may take a minute, and is paid for: a reload must not end the call meanwhile.
  const call: Call = { ...begun, catalogAtStart: begun.catalogAtStart ?? options.catalog() }
  const run = new PluginRun(options, call, next)
  for (const { plugin, settings } of active) plugin.check?.(settings)
  let complete = false
  try {
    const { request, strategy } = await prepare(run, active, call)
    // The caller's key may have ended meanwhile.
    options.mayGoOn?.(call.owner)
    const adaptation = run.adaptation(adaptersOf(call.request, active, registry))
    let handler = next
    for (const one of active.toReversed()) if (one.plugin.wrap !== undefined) handler = one.plugin.wrap(handler, request, run.context(one))
    const citations = new CitationPass(run.sources)
    for await (const events of handler({
      ...call,
      request,
      adaptation: adaptation ?? NO_ADAPTATION,
      ...(strategy === undefined ? {} : { strategy }),
    })) {
      let cited = citations.take(events)
      if (cited.length > 1 && run.mustEstimate(cited.at(-1))) {
        // The assembler knows the content of the answer once it has been passed on.
        yield cited.slice(0, -1)
        cited = cited.slice(-1)
      }
      const settled = settle(run, cited)
      // An answer is paid for when its end is told, whether or not anybody reads on.
      complete = settled.at(-1)?.type === 'response-end'
      yield settled
    }
    complete = true
  } finally {
    if (!complete) run.broke()
  }
}

/** Plugins that adapt this request to endpoints: those it names, and the standing ones it does not switch off. */
function adaptersOf(request: ModelRequest, active: readonly ActivePlugin[], registry: PluginRegistry): readonly ActivePlugin[] {
  return [...active, ...registry.standing.filter(({ plugin: { id } }) => !named(active, id) && !isSwitchedOff(request, id, registry))]
}

/** What could be done for endpoints that do not take the request as it is. Throws for settings that a plugin refuses. */
export function reachFor(request: ModelRequest, registry: PluginRegistry): Pick<Adaptation, 'modalities' | 'shortensUpTo'> {
  return reachOf(adaptersOf(request, selectPlugins(request, registry) ?? [], registry))
}

const named = (active: readonly ActivePlugin[], id: string): boolean => active.some(({ plugin }) => plugin.id === id)

interface Prepared {
  readonly request: ModelRequest
  readonly strategy: Call['strategy']
}

/** Each plugin in turn: first the choice of models, then what they are asked. */
async function prepare(run: PluginRun, active: readonly ActivePlugin[], call: Call): Promise<Prepared> {
  let { request } = call
  let strategy: Call['strategy']
  for (const one of active) {
    const { plugin } = one
    if (plugin.choose !== undefined) {
      const choice = await run.within(one, (context) => plugin.choose!(request, context))
      if (choice !== undefined) {
        const [model, ...models] = choice.models
        const { models: _, ...rest } = request
        request = { ...rest, model, ...(models.length === 0 ? {} : { models }) }
        strategy = choice.strategy
        Object.assign(call.trace.params, choice.reasons)
      }
    }
    if (plugin.prepare !== undefined) request = (await run.within(one, (context) => plugin.prepare!(request, context))) ?? request
  }
  return { request, strategy }
}

/** The events, with the usage of the last one completed. */
function settle(run: PluginRun, events: readonly ModelEvent[]): readonly ModelEvent[] {
  const last = events.at(-1)
  if (last?.type !== 'response-end') return events
  const usage = run.settle(last)
  return usage === last.usage ? events : [...events.slice(0, -1), { ...last, ...(usage === undefined ? {} : { usage }) }]
}
