import { z } from 'zod'
import type { PluginsConfig } from '../core/plugins-config.ts'
import { defined } from '../lib/defined.ts'
import { Secret } from '../lib/secret.ts'
import { choice, credential, httpUrl, price, section, text } from './fields.ts'

const documentEngine = section({
  api_key: credential().optional().describe('Without: the engine’s usual variable.'),
  base_url: httpUrl().optional().describe('Another address than the vendor’s.'),
  account: text().optional().describe('Account, for services with one in their address.'),
  price: price().optional().describe('USD per page, instead of the list price.'),
})

/** `plugins`: what the operator provides for plugins. `defaults.plugins` says which of them run, and how. */
export const pluginsSection = section({
  file_parser: section({
    engine: text('the name of a document engine, such as pdf-text').default('pdf-text').describe('Default engine for PDF files.'),
    engines: z
      .record(z.string(), documentEngine, {
        error: 'a mapping of document engines to their settings, such as {mistral-ocr: {api_key: "${MISTRAL_API_KEY}"}}',
      })
      .default({})
      .describe('Document engines by name ([plugins](../guides/plugins.md)).'),
  }).prefault({}),
  pareto_router: section({
    scores: z
      .record(z.string(), z.number().min(0).max(1), { error: 'a mapping of models to scores from 0 to 1, such as {acme/large: 0.9}' })
      .default({})
      .describe('How good models are at code, 0 to 1, for `gateway/pareto-code`.'),
  }).prefault({}),
  moderation: section({
    model: text('a model that judges').optional().describe('A model of the catalog that judges; or `endpoint`.'),
    endpoint: section({
      url: httpUrl('an http or https URL').describe('A server with the usual moderation API.'),
      api_key: credential().optional().describe('Sent to it as a bearer token.'),
      model: text().optional().describe('Which of its models judges.'),
    }).optional(),
    when_unavailable: choice(['refuse', 'allow'])
      .default('refuse')
      .describe('What happens to calls while no judge is available. Applies to outages only.'),
  })
    .refine(({ model, endpoint }) => model === undefined || endpoint === undefined, {
      path: ['endpoint'],
      error: 'either a model or an endpoint, not both',
    })
    .refine(({ model, endpoint }) => model !== undefined || endpoint !== undefined, {
      error: 'one with model or endpoint, because somebody has to judge',
    })
    .optional(),
})

export function toPlugins({ file_parser: files, moderation, pareto_router: pareto }: z.output<typeof pluginsSection>): PluginsConfig {
  const engines = Object.entries(files.engines).map(([name, { api_key: key, base_url: baseUrl, account, price: perPage }]) => {
    return [name, defined({ apiKey: key === undefined ? undefined : new Secret(key), baseUrl, account, price: perPage })] as const
  })
  const { model, endpoint, when_unavailable: whenUnavailable = 'refuse' } = moderation ?? {}
  return {
    codingScores: pareto.scores,
    fileParser: { engine: files.engine, engines: Object.fromEntries(engines) },
    moderation: {
      ...defined({
        model,
        endpoint:
          endpoint === undefined
            ? undefined
            : {
                url: endpoint.url,
                ...defined({ apiKey: endpoint.api_key === undefined ? undefined : new Secret(endpoint.api_key), model: endpoint.model }),
              },
      }),
      whenUnavailable,
    },
  }
}
