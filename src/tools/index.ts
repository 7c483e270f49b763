import type { ServerTool } from '../core/extension.ts'
import { datetime } from './datetime.ts'
import { searchEngines } from './search-engines/index.ts'
import { readyEngines, type ToolDependencies } from './shared/dependencies.ts'
import { createWebSearch } from './web-search.ts'

/** Every tool the gateway runs itself. A new one is a file in this folder and a line here. */
export function createTools(dependencies: ToolDependencies): readonly ServerTool[] {
  const engines = readyEngines(searchEngines, dependencies)
  const { operatorEgress } = dependencies
  return [datetime, createWebSearch({ engines, egress: operatorEgress })]
}
