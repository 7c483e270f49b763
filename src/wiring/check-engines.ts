import type { Config } from '../core/config.ts'
import { ConfigError, type ConfigProblem } from '../core/config-error.ts'
import { insteadOf } from '../lib/closest.ts'
import { documentEngines } from '../plugins/document-engines/index.ts'
import { BUILT_IN_ENGINES } from '../plugins/file-parser.ts'
import { lackOf as documentLack } from '../plugins/shared/document-engine.ts'
import { searchEngines } from '../tools/search-engines/index.ts'
import { lackOf as searchLack } from '../tools/shared/dependencies.ts'

type Env = { readonly [name: string]: string | undefined }

interface Lack {
  readonly setting: string
  /** Engines that stand in for it. */
  readonly variables: readonly string[]
}

/** The engines of one kind, as configured. */
interface EngineSettings {
  /** The path of the section: `tools.web_search`. */
  readonly path: string
  /** The preferred engine. */
  readonly chosen: string
  /** Values of the choice that name no engine. */
  readonly others: readonly string[]
  /** The engines with settings. */
  readonly configured: readonly string[]
  /** What each engine lacks; undefined if nothing, or if something stands in for it. */
  readonly lacks: ReadonlyMap<string, Lack | undefined>
}

/**
 * Checks that the configured engines exist and have what they need. Settings of a misspelt engine would be ignored, and one without key or address
 * would never be asked, so that calls would fail. Throws ConfigError.
 */
export function checkEngines({ tools, plugins, file }: Pick<Config, 'tools' | 'plugins' | 'file'>, env: Env): void {
  const { webSearch } = tools
  const { fileParser } = plugins
  const problems = [
    ...problemsOf({
      path: 'tools.web_search',
      chosen: webSearch.engine,
      others: ['auto'],
      configured: Object.keys(webSearch.engines),
      lacks: new Map(searchEngines.map((engine) => [engine.name, searchLack(engine, webSearch.engines[engine.name] ?? {}, env)])),
    }),
    ...problemsOf({
      path: 'plugins.file_parser',
      chosen: fileParser.engine,
      others: BUILT_IN_ENGINES,
      configured: Object.keys(fileParser.engines),
      lacks: new Map(
        documentEngines.map((engine) => [
          engine.name,
          engine.replaceable === true ? undefined : documentLack(engine, fileParser.engines[engine.name] ?? {}, env),
        ]),
      ),
    }),
  ]
  if (problems.length > 0) throw new ConfigError(problems, file)
}

function problemsOf({ path, chosen, others, configured, lacks }: EngineSettings): readonly ConfigProblem[] {
  const known = [...lacks.keys()]
  const choices = [...others, ...known]
  const unknown = choices.includes(chosen) ? [] : [{ path: `${path}.engine`, message: `${JSON.stringify(chosen)}; ${insteadOf(chosen, choices)}` }]
  const misspelt = configured
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: `${path}.engines.${name}`, message: `unknown engine; ${insteadOf(name, known)}` }))
  const lacking = [...new Set([...configured, chosen])].flatMap((name) => {
    const lack = lacks.get(name)
    if (lack === undefined) return []
    const why = configured.includes(name) ? 'the engine is never asked without' : `${path}.engine names it`
    const message = `missing; expected it here or in ${lack.variables.join(' or ')}, because ${why}`
    return [{ path: `${path}.engines.${name}.${lack.setting}`, message }]
  })
  return [...unknown, ...misspelt, ...lacking]
}
