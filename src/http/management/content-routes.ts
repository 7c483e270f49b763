import { z } from 'zod'
import { GatewayError } from '../../core/error.ts'
import type { Generation, GenerationContent } from '../../core/generation.ts'
import type { ManagementRoutes } from './app.ts'
import { generationQuery } from './generation-shapes.ts'
import { parseQuery, workspaceReadable } from './request-input.ts'
import { component, type RouteDoc } from './route-doc.ts'

export interface ContentRouteOptions {
  /** A generation of one workspace (of any, if undefined) and its content, if the workspace keeps it. */
  readonly find: (
    id: string,
    workspaceId: string | undefined,
  ) => Promise<{ readonly generation: Generation; readonly content: GenerationContent | undefined } | undefined>
}

const someText = z.string().nullable()
const content = component(
  'GenerationContent',
  z.object({
    input: z.object({ messages: z.array(z.unknown()) }),
    output: z.object({
      completion: someText,
      reasoning: someText,
      items: z.array(z.unknown()).optional().describe('Other items of the answer, as in its `output`: function and tool calls, refusals.'),
    }),
    error: z
      .object({
        status: z.int().nullable(),
        message: someText,
        provider_name: someText,
        raw: someText,
        previous_errors: z.array(z.object({ code: z.int(), message: z.string(), provider_name: someText, raw: someText })),
      })
      .nullable(),
  }),
)
const contentAnswer = z.object({ data: content })
type WireContent = z.output<typeof content>

const doc: RouteDoc = {
  id: 'listGenerationContent',
  tag: 'Generations',
  summary: 'Read the content of a call, if its workspace stores it',
  query: generationQuery,
  answer: contentAnswer,
  errors: { 404: 'There is no such generation, or what was said was not kept.' },
}

/** `GET /api/v1/generation/content?id=`: the content of a call, for keys that reach its workspace, if the workspace keeps it. */
export function contentRoutes(options: ContentRouteOptions): ManagementRoutes {
  return (app) => {
    app.get('/api/v1/generation/content', { config: { access: 'any', doc } }, async (request): Promise<z.output<typeof contentAnswer>> => {
      const { id } = parseQuery(generationQuery, request)
      const found = await options.find(id, workspaceReadable(request))
      if (found === undefined) throw new GatewayError('not_found', `There is no generation ${id.slice(0, 100)}`)
      if (found.content === undefined)
        throw new GatewayError('not_found', 'The content of this call was not stored: the workspace does not store content')
      return { data: presentContent(found.generation, found.content) }
    })
  }
}

/** The contract's `GenerationContentData`. */
function presentContent(generation: Generation, generated: GenerationContent): WireContent {
  const items = generated.output.filter((item) => item.type !== 'reasoning' && (item.type !== 'message' || refuses(item)))
  const instructions = generated.instructions === undefined ? [] : [{ type: 'message', role: 'system', content: generated.instructions }]
  return {
    input: { messages: [...instructions, ...generated.input] },
    output: {
      completion: textsOf(generated, 'message', 'output_text'),
      reasoning: textsOf(generated, 'reasoning', 'reasoning_text') ?? textsOf(generated, 'reasoning', 'summary_text'),
      ...(items.length === 0 ? {} : { items }),
    },
    error: errorOf(generation),
  }
}

/** Refusals are not part of `completion`, so they are shown here. */
function refuses(item: object): boolean {
  const { content: parts } = item as { readonly content?: unknown }
  return Array.isArray(parts) && parts.some((part: Part) => part.type === 'refusal')
}

interface Part {
  readonly type?: string
  readonly text?: string
}

/** The texts of one kind of part in one kind of item, joined; null if there are none. */
function textsOf({ output }: GenerationContent, item: string, part: string): string | null {
  const texts: string[] = []
  for (const one of output) {
    if (one.type !== item) continue
    const fields = one as { readonly content?: unknown; readonly summary?: unknown }
    for (const parts of [fields.content, fields.summary]) {
      if (!Array.isArray(parts)) continue
      for (const { type, text } of parts as readonly Part[]) if (type === part && typeof text === 'string') texts.push(text)
    }
  }
  return texts.length === 0 ? null : texts.join('')
}

function errorOf(generation: Generation): WireContent['error'] {
  if (generation.errorType === undefined) return null
  const failed = generation.attempts.filter(({ errorType }) => errorType !== undefined)
  return {
    status: generation.httpStatus,
    message: generation.errorMessage ?? null,
    provider_name: failed.at(-1)?.providerName ?? null,
    raw: null,
    previous_errors: failed
      .slice(0, -1)
      .map(({ status, errorMessage, providerName }) => ({ code: status, message: errorMessage ?? '', provider_name: providerName, raw: null })),
  }
}
