import { GatewayError } from '../../core/error.ts'

/** The fields of models that clients of the Messages format read; all others stay beside them. */

interface Model {
  readonly id: string
  readonly name: string
  readonly created: number
  readonly context_length: number | null
  readonly top_provider: { readonly max_completion_tokens: number | null }
}
interface ModelList {
  readonly data: readonly Model[]
}

/** Clients of this format send its version with every call. */
export const speaksMessages = (headers: { readonly [name: string]: unknown }): boolean => headers['anthropic-version'] !== undefined

/** A model with additional fields named as in this format. */
export function asMessagesModel<M extends Model>(model: M): M {
  const { name, created, context_length: window, top_provider: provider } = model
  const fields = {
    type: 'model',
    display_name: name,
    created_at: new Date(created * 1_000).toISOString(),
    max_input_tokens: window,
    max_tokens: provider.max_completion_tokens,
  }
  return { ...model, ...fields }
}

/**
 * The list in this format's pages, which begin after or before the id of a model. `listFor`: the list for a query. Throws GatewayError `invalid_request` for
 * a model that is not in the list.
 */
export function messagesPage<L extends ModelList>(listFor: (search: URLSearchParams) => L, search: URLSearchParams): L {
  const all = new URLSearchParams(search)
  for (const name of ['limit', 'after_id', 'before_id']) all.delete(name)
  const list = listFor(all)
  // The list itself refuses invalid limits.
  const limit = search.has('limit') ? listFor(new URLSearchParams({ limit: search.get('limit')! })) && Number(search.get('limit')) : Infinity
  const [after, before] = [placeOf(list, search, 'after_id'), placeOf(list, search, 'before_id')]
  const rest = list.data.slice(after === undefined ? 0 : after + 1, before)
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(-limit)
  const data = page.map((model) => asMessagesModel(model))
  return { ...list, data, has_more: page.length < rest.length, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
}

function placeOf({ data }: ModelList, search: URLSearchParams, name: string): number | undefined {
  const id = search.get(name)
  if (id === null || id === '') return undefined
  const at = data.findIndex((model) => model.id === id)
  if (at < 0) throw new GatewayError('invalid_request', `${name} is not the id of a listed model`, { path: name })
  return at
}
