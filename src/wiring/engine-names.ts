import type { Config } from '../core/config.ts'
import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import { insteadOf } from '../lib/closest.ts'
import { documentEngines } from '../plugins/document-engines/index.ts'
import { BUILT_IN_ENGINES } from '../plugins/file-parser.ts'
import { searchEngines } from '../tools/search-engines/index.ts'

/** Whether the engines the configuration names exist: settings of a misspelt one would be passed over, and calls would miss it. Throws ConfigError. */
export function checkEngineNames({ tools, plugins, file }: Pick<Config, 'tools' | 'plugins' | 'file'>): void {
  const search = searchEngines.map(({ name }) => name)
  const documents = documentEngines.map(({ name }) => name)
  const problems = [
    ...unknownChoice('tools.web_search.engine', tools.webSearch.engine, ['auto', ...search]),
    ...unknownKeys('tools.web_search.engines', tools.webSearch.engines, search),
    ...unknownChoice('plugins.file_parser.engine', plugins.fileParser.engine, [...BUILT_IN_ENGINES, ...documents]),
    ...unknownKeys('plugins.file_parser.engines', plugins.fileParser.engines, documents),
  ]
  if (problems.length > 0) throw new ConfigError(problems, file)
}

function unknownChoice(path: string, name: string, known: readonly string[]): readonly ConfigProblem[] {
  return known.includes(name) ? [] : [{ path, message: `${JSON.stringify(name)}; ${insteadOf(name, known)}` }]
}

function unknownKeys(path: string, settings: { readonly [name: string]: unknown }, known: readonly string[]): readonly ConfigProblem[] {
  const unknown = Object.keys(settings).filter((name) => !known.includes(name))
  return unknown.map((name) => ({ path: `${path}.${name}`, message: `unknown engine; ${insteadOf(name, known)}` }))
}
