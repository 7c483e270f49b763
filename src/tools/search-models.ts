import { z } from 'zod'
import type { Call } from '../core/call.ts'
import { MODALITIES } from '../core/capability.ts'
import type { Catalog, Modality, Model } from '../core/endpoint.ts'
import type { ServerTool } from '../core/extension.ts'
import { cutText } from '../lib/cut-text.ts'

const settings = z.object({ max_results: z.int().min(1).max(20).default(5) })
const modalities = z.array(z.enum(MODALITIES)).optional()
const parameters = z.object({
  query: z.string().max(200).optional().describe('Words in the name, slug or description of a model.'),
  input_modalities: modalities.describe('Kinds of input a model must all take.'),
  output_modalities: modalities.describe('Kinds of output a model must all give.'),
  min_context_length: z.int().min(1).optional().describe('Smallest context window, in tokens.'),
  series: z.string().max(60).optional().describe('Family of models, such as claude or gpt.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

const MAX_DESCRIPTION = 400

/** Finds models in the catalog of this gateway. */
export function createSearchModels(catalog: () => Catalog): ServerTool<Settings, Arguments> {
  return {
    name: 'experimental__search_models',
    description:
      'Searches the models this gateway can reach, by words, kinds of input and output, context window and family. Without arguments it lists them all.',
    settings,
    parameters,
    timeoutMs: 5_000,
    begin: (args) => ({ query: args?.query ?? '', arguments: JSON.stringify(args ?? {}) }),
    async execute(args, { settings: own, call }) {
      const found = catalog()
        .models()
        .map((model) => admitted(model, call))
        .filter((model) => fits(model, args))
      const models = found.slice(0, own.max_results).map(describe)
      return { output: JSON.stringify({ models, total_results: found.length, showing: models.length }) }
    },
    // The item contains no models, and the query alone is no result.
    replay: ({ arguments: args, query }) => ({
      arguments: typeof args === 'string' && args !== '' ? args : JSON.stringify({ query: query ?? '' }),
      output: JSON.stringify({ note: 'Searched in an earlier turn; search again to see the models.' }),
    }),
  }
}

/** Only with the endpoints that may serve this call, so that models forbidden by guardrails are not offered. */
function admitted(model: Model, { admits }: Pick<Call, 'admits'>): Model {
  return admits === undefined ? model : { ...model, endpoints: model.endpoints.filter((endpoint) => admits(endpoint) === undefined) }
}

function fits(
  model: Model,
  { query, input_modalities: inputs = [], output_modalities: outputs = [], min_context_length: context = 0, series }: Arguments,
): boolean {
  const text = `${model.slug} ${model.name} ${model.description ?? ''}`.toLowerCase()
  const words = (query ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return (
    model.contextLength >= context &&
    words.every((word) => text.includes(word)) &&
    (series === undefined || text.includes(series.toLowerCase())) &&
    model.endpoints.some(({ inputModalities, outputModalities }) => has(inputModalities, inputs) && has(outputModalities, outputs))
  )
}

const has = (set: ReadonlySet<Modality>, wanted: readonly Modality[]): boolean => wanted.every((modality) => set.has(modality))

function describe({ slug, name, description, contextLength, endpoints }: Model): object {
  const list = (pick: 'inputModalities' | 'outputModalities'): readonly Modality[] => [
    ...new Set(endpoints.flatMap((endpoint) => [...endpoint[pick]])),
  ]
  return {
    id: slug,
    name,
    ...(description === undefined ? {} : { description: cutText(description, MAX_DESCRIPTION) }),
    context_length: contextLength,
    input_modalities: list('inputModalities'),
    output_modalities: list('outputModalities'),
    series: slug.split('/')[0],
  }
}
