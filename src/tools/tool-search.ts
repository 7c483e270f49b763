import { RE2JS } from 're2js'
import { z } from 'zod'
import { GatewayError } from '../core/error.ts'
import type { ServerTool } from '../core/extension.ts'
import type { FunctionTool, JsonObject } from '../core/item.ts'

const MAX_PATTERN = 200
const settings = z.object({ max_results: z.int().min(1).max(50).default(5) })
const parameters = z.object({
  query: z
    .string()
    .min(1)
    .max(MAX_PATTERN, `at most ${MAX_PATTERN} characters`)
    .describe('A regular expression (RE2 syntax), matched without regard to case: weather, or github_(issues|pulls).'),
  max_results: z.int().min(1).max(50).optional().describe('How many tools to load at most.'),
})

type Settings = z.infer<typeof settings>
type Arguments = z.infer<typeof parameters>

/** Finds functions of the caller that are kept out of the prompt until somebody needs them. */
export const toolSearch: ServerTool<Settings, Arguments> = {
  name: 'tool_search',
  description:
    'Finds further tools and loads them, so that you can call them from your next turn on. The pattern is matched against names, descriptions and ' +
    'arguments of all tools not loaded yet. Search before you say that something cannot be done.',
  settings,
  parameters,
  timeoutMs: 5_000,
  check(_own, { siblings }) {
    if (siblings.some((tool) => tool['defer_loading'] === true))
      throw new GatewayError('invalid_request', 'tool_search cannot be deferred itself: nothing could load it')
  },
  begin: (args) => ({ query: args?.query ?? '' }),
  async execute(args, { settings: own, deferred }) {
    const limit = Math.min(args.max_results ?? own.max_results, own.max_results)
    const pattern = compile(args.query)
    if (pattern === undefined) {
      const message = 'The pattern is not a valid regular expression. Search again with a simpler one.'
      return { output: JSON.stringify({ status: 'error', error: message }), error: { type: 'invalid_arguments', message } }
    }
    const found = deferred.filter((tool) => pattern.matcher(haystack(tool)).find()).slice(0, limit)
    const tools = found.map(({ name, description }) => ({ name, description: description ?? '' }))
    return {
      output: JSON.stringify({ tools, note: tools.length === 0 ? 'No tool matches.' : 'These tools can be called now.' }),
      reveal: tools.map(({ name }) => name),
    }
  },
  replay: (item) => ({
    arguments: JSON.stringify({ query: item['query'] ?? '' }),
    output: JSON.stringify({ note: 'Searched in an earlier turn; search again to load tools.' }),
  }),
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)
  } catch {
    return undefined
  }
}

const MAX_TEXT = 20_000

function descriptionOf(schema: unknown): string {
  const { description } = (schema ?? {}) as { readonly description?: unknown }
  return typeof description === 'string' ? description : ''
}

/** Name, description, and names and descriptions of the arguments. */
function haystack({ name, description, parameters: schema }: FunctionTool): string {
  const properties = Object.entries((schema?.['properties'] ?? {}) as JsonObject)
  const args = properties.map(([argument, value]) => `${argument} ${descriptionOf(value)}`)
  return [name, description ?? '', ...args].join('\n').slice(0, MAX_TEXT)
}
