import type { ServerTool } from '../core/extension.ts'
import { advisor } from './advisor.ts'
import { applyPatch } from './apply-patch.ts'
import { createBash } from './bash.ts'
import { datetime } from './datetime.ts'
import { createFiles } from './files.ts'
import { createFusion } from './fusion.ts'
import { createImageGeneration } from './image-generation.ts'
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

/** Every tool the gateway runs itself. A new one is a file in this folder and a line here. Throws nothing: what is missing is said per request. */
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
    createFusion({ models: config.fusionModels, defaultTools: panelTools }),
    applyPatch,
    createShell(sandbox),
    createBash(sandbox),
    createFiles(sandbox),
  ]
}
