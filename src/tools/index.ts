import type { ToolsConfig } from '../core/config.ts'
import type { ServerTool } from '../core/extension.ts'
import type { ToolSource } from '../core/tool-source.ts'
import type { Clock } from '../lib/clock.ts'
import type { Egress } from '../lib/egress.ts'
import { advisor } from './advisor.ts'
import { applyPatch } from './apply-patch.ts'
import { createBash } from './bash.ts'
import { datetime } from './datetime.ts'
import { createFiles } from './files.ts'
import { createFusion } from './fusion.ts'
import { createImageGeneration } from './image-generation.ts'
import { createMcp } from './mcp/index.ts'
import { searchEngines } from './search-engines/index.ts'
import { createSearchModels } from './search-models.ts'
import { readyEngines, type ToolDependencies } from './shared/dependencies.ts'
import { PageFetcher } from './shared/page-fetcher.ts'
import type { Sandbox } from './shared/sandbox.ts'
import { createShell } from './shell.ts'
import { subagent } from './subagent.ts'
import { toolSearch } from './tool-search.ts'
import { createWebFetch } from './web-fetch.ts'
import { createWebSearch } from './web-search.ts'

/**
 * Every tool that the gateway runs itself. A new one is a file in this folder and a line here. Never throws: missing dependencies are reported per
 * request.
 */
export function createTools(dependencies: ToolDependencies): readonly ServerTool[] {
  const { config, catalog, egress, operatorEgress } = dependencies
  const engines = readyEngines(searchEngines, dependencies)
  const fetcher = new PageFetcher({ egress, obeyRobots: config.webFetch.robots })
  const sandbox: Sandbox | undefined =
    config.sandbox === undefined ? undefined : { url: config.sandbox.url, apiKey: config.sandbox.apiKey, egress: operatorEgress }
  const web = [
    createWebSearch({ engines, egress: operatorEgress }),
    createWebFetch({ engines, known: new Set(searchEngines.map(({ name }) => name)), engineEgress: operatorEgress, fetcher }),
  ]
  const panelTools = web.filter((tool) => tool.available === undefined || engines.length > 0).map(({ name }) => ({ type: `gateway:${name}` }))
  return [
    datetime,
    ...web,
    createImageGeneration({ catalog, model: config.imageModel }),
    toolSearch,
    createSearchModels(catalog),
    advisor,
    subagent,
    createFusion({
      models: config.fusionModels,
      defaultTools: panelTools,
      outputLimit: (model) => {
        const limits =
          catalog()
            .find(model)
            ?.endpoints.map(({ maxOutputTokens }) => maxOutputTokens ?? Infinity) ?? []
        return limits.length === 0 ? Infinity : Math.max(...limits)
      },
    }),
    applyPatch,
    createShell(sandbox),
    createBash(sandbox),
    createFiles(sandbox),
  ]
}

export interface SourceDependencies {
  /** What else a source reads must also be compared by a reload, which keeps sources that nothing has changed for. */
  readonly config: Pick<ToolsConfig, 'mcp'>
  /** The egress for addresses that callers choose and send credentials to. */
  readonly egress: Egress
  readonly clock: Clock
  readonly version: string
}

/** `close` ends connections kept for later calls, in bounded time; calls in progress are not disturbed. */
export type OpenToolSource = ToolSource & { close(): Promise<void> }

/** Every type of tool entry that stands for functions of other servers. A new one is a folder here and a line in this list. */
export function createToolSources({ config, egress, clock, version }: SourceDependencies): readonly OpenToolSource[] {
  return [createMcp({ egress, clock, version, progressEvents: config.mcp.progressEvents })]
}
