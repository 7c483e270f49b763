import { GatewayError } from '../../core/error.ts'
import type { Generation, GenerationContent } from '../../core/generation.ts'
import { callerOf, type ManagementRoutes } from './app.ts'

export interface ContentRouteOptions {
  /** A generation of one workspace and, where the workspace keeps it, what was said. */
  readonly find: (
    id: string,
    workspaceId: string,
  ) => Promise<{ readonly generation: Generation; readonly content: GenerationContent | undefined } | undefined>
}

/** `GET /api/v1/generation/content?id=`: what was said in a call, for keys of its workspace, if the workspace asked to keep it. */
export function contentRoutes(options: ContentRouteOptions): ManagementRoutes {
  return (app) => {
    app.get<{ Querystring: { id?: string } }>('/api/v1/generation/content', { config: { access: 'any' } }, async (request) => {
      const { id } = request.query
      if (typeof id !== 'string' || id === '')
        throw new GatewayError('invalid_request', 'id: the id of a generation is expected, as in ?id=gen-...', { path: 'id' })
      const found = await options.find(id, callerOf(request).owner.workspaceId)
      if (found === undefined) throw new GatewayError('not_found', `There is no generation ${id.slice(0, 100)}`)
      if (found.content === undefined)
        throw new GatewayError('not_found', 'What was said in this call was not kept: the workspace has not asked for it')
      return { data: presentContent(found.generation, found.content) }
    })
  }
}

/** The contract's `GenerationContentData`. */
export function presentContent(generation: Generation, content: GenerationContent): object {
  const instructions = content.instructions === undefined ? [] : [{ type: 'message', role: 'system', content: content.instructions }]
  return {
    input: { messages: [...instructions, ...content.input] },
    output: {
      completion: textsOf(content, 'message', 'output_text'),
      reasoning: textsOf(content, 'reasoning', 'reasoning_text') ?? textsOf(content, 'reasoning', 'summary_text'),
    },
    error: errorOf(generation),
  }
}

interface Part {
  readonly type?: string
  readonly text?: string
}

/** The texts of one kind of part in one kind of item, joined; null when there are none. */
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

function errorOf(generation: Generation): object | null {
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
