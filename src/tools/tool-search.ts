import { z } from 'zod'
import { GatewayError } from '../core/error.ts'
import type { ServerTool, ToolContext, ToolResult } from '../core/extension.ts'
import type { FunctionTool, JsonObject } from '../core/item.ts'
import { compileLinearPattern, type LinearPattern } from '../lib/linear-pattern.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { Turns } from '../lib/turns.ts'

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

/** Finds functions of the caller that are kept out of the prompt until they are needed. */
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
  async execute(args, context) {
    const { max_results: most } = context.settings
    const pattern = compile(args.query)
    if (pattern === undefined) return failed('The pattern is not a valid regular expression, or too large. Search again with a simpler one.')
    const found = await search(pattern, Math.min(args.max_results ?? most, most), context)
    if (found === undefined) return failed('The pattern takes too long. Search again with a simpler one.')
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

function failed(message: string): ToolResult {
  return { output: JSON.stringify({ status: 'error', error: message }), error: { type: 'invalid_arguments', message, lasting: true } }
}

function compile(query: string): LinearPattern | undefined {
  try {
    return compileLinearPattern(`(?i)${query}`)
  } catch {
    return undefined
  }
}

/** Limit on the process's time for one search: the pattern comes from a model, and its caller chooses the texts it is applied to. */
const MAX_BUSY_MS = 500

/** The first tools that match; undefined if the search takes too long. */
async function search(
  pattern: LinearPattern,
  limit: number,
  { deferred, call: { clock }, signal }: ToolContext<Settings>,
): Promise<readonly FunctionTool[] | undefined> {
  // A pattern that matches the empty string matches everything.
  if (pattern.test('')) return deferred.slice(0, limit)
  const found: FunctionTool[] = []
  const rest = async (): Promise<void> => {
    await nextTurn()
    signal.throwIfAborted()
  }
  const turns = new Turns({ now: () => clock.monotonic(), rest }, MAX_BUSY_MS)
  for (const match of matches(pattern, deferred)) {
    if (match !== undefined && found.push(match) >= limit) break
    if (!turns.due) continue
    await turns.rest()
    if (turns.exhausted) return undefined
  }
  return found
}

/** Matching tools in order; yields undefined in between so that the caller can check the time. */
function* matches(pattern: LinearPattern, tools: readonly FunctionTool[]): Generator<FunctionTool | undefined> {
  for (const tool of tools) {
    for (const span of pattern.search(haystack(tool))) {
      if (span !== undefined) {
        yield tool
        break
      }
      yield undefined
    }
  }
}

const MAX_TEXT = 20_000

function descriptionOf(schema: unknown): string {
  const { description } = (schema ?? {}) as { readonly description?: unknown }
  return typeof description === 'string' ? description : ''
}

/** Name and description of the tool, and names and descriptions of its arguments. */
function haystack({ name, description, parameters: schema }: FunctionTool): string {
  const properties = Object.entries((schema?.['properties'] ?? {}) as JsonObject)
  const args = properties.map(([argument, value]) => `${argument} ${descriptionOf(value)}`)
  return [name, description ?? '', ...args].join('\n').slice(0, MAX_TEXT)
}
