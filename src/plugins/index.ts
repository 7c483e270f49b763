import type { Plugin } from '../core/extension.ts'
import { createAutoBetaRouter } from './auto-beta-router.ts'
import { createAutoRouter } from './auto-router.ts'
import { createContextCompression } from './context-compression.ts'
import { documentEngines } from './document-engines/index.ts'
import { createFileParser } from './file-parser.ts'
import { createFusionPlugin } from './fusion.ts'
import { createModeration } from './moderation.ts'
import { createParetoRouter } from './pareto-router.ts'
import { responseHealing } from './response-healing.ts'
import type { PluginDependencies } from './shared/dependencies.ts'
import { prepareEngine } from './shared/document-engine.ts'
import { createJudge } from './shared/judge.ts'
import { createWebFetch } from './web-fetch.ts'
import { createWeb } from './web.ts'

/**
 * Every plugin, in the order in which those that apply to a call run: plugins that choose the model before those that depend on its abilities, plugins
 * that may refuse a call before those that spend money on it, and the one that shortens prompts after all that lengthen them. A new plugin is a file in
 * this folder and a line here.
 */
export function createPlugins(dependencies: PluginDependencies): readonly Plugin[] {
  const { config, catalog, tokensOf, search, pages, operatorEgress, fusionModels } = dependencies
  return [
    createAutoRouter({ catalog, tokensOf }),
    createAutoBetaRouter({ catalog, tokensOf }),
    createParetoRouter({ catalog, tokensOf, scores: config.codingScores }),
    createFusionPlugin({ catalog, panel: fusionModels }),
    createModeration({ judge: createJudge(config.moderation, operatorEgress), whenUnavailable: config.moderation.whenUnavailable }),
    fileParser(dependencies),
    createWeb(search),
    createWebFetch(pages),
    createContextCompression({ tokensOf }),
    responseHealing,
  ]
}

function fileParser({ config: { fileParser: config }, env, operatorEgress, reader, files }: PluginDependencies): Plugin {
  return createFileParser({
    reader,
    pages: files,
    engines: documentEngines.flatMap((engine) => prepareEngine(engine, config.engines[engine.name] ?? {}, env, operatorEgress) ?? []),
    known: new Map(documentEngines.map(({ name, replaceable = false }) => [name, { replaceable }])),
    engine: config.engine,
  })
}
