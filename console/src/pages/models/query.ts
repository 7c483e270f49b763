import type { Input } from '../../api/client.ts'

/** Translates the page's URL to the query to the gateway. */

export const PAGE = 50

type Query = NonNullable<Input<'GET /api/v1/models'>['query']>

export const SORTS = [
  { value: 'newest', label: 'Newest' },
  { value: 'pricing-low-to-high', label: 'Price, low to high' },
  { value: 'pricing-high-to-low', label: 'Price, high to low' },
  { value: 'context-high-to-low', label: 'Context, long to short' },
] as const satisfies readonly { readonly value: NonNullable<Query['sort']>; readonly label: string }[]

/** Kinds of content and abilities, in the terms of the API. */
export const INPUTS = ['text', 'image', 'file', 'audio', 'video'] as const
export const OUTPUTS = ['text', 'image', 'audio', 'video', 'embeddings'] as const
export const ABILITIES = [
  { value: 'tools', label: 'Tools', brief: 'tools' },
  { value: 'reasoning', label: 'Reasoning', brief: 'reasoning' },
  { value: 'structured_outputs', label: 'Structured output', brief: 'structured' },
  { value: 'web_search_options', label: 'Web search', brief: 'web search' },
] as const

export const CONTEXTS = [
  { value: '32000', label: '32K or more' },
  { value: '128000', label: '128K or more' },
  { value: '200000', label: '200K or more' },
  { value: '1000000', label: '1M or more' },
] as const

/** All filters that the URL may contain. */
export const FILTERS = ['q', 'provider', 'input', 'output', 'supports', 'context', 'max_price', 'max_output_price'] as const

type Get = (name: string) => string | undefined

/** The page of the list in the URL, from 1. */
export function pageOf(get: Get): number {
  const page = Number(get('page') ?? 1)
  return Number.isSafeInteger(page) && page >= 1 ? page : 1
}

/** A valid amount; an invalid one is reported at its field and does not filter. */
export const isAmount = (text: string): boolean => /^\d*\.?\d+$/.test(text)

export function queryOf(get: Get): Query {
  const amount = (name: string): number | undefined => {
    const text = get(name)
    return text === undefined || !isAmount(text) ? undefined : Number(text)
  }
  const sort = SORTS.find(({ value }) => value === get('sort'))?.value
  return {
    limit: PAGE,
    offset: (pageOf(get) - 1) * PAGE,
    q: get('q'),
    providers: get('provider'),
    input_modalities: get('input'),
    output_modalities: get('output') ?? 'all',
    supported_parameters: get('supports'),
    context: amount('context'),
    max_price: amount('max_price'),
    max_output_price: amount('max_output_price'),
    sort,
  }
}

/** The parts of a model's name for its route; everything after the author belongs to the slug. */
export function partsOf(id: string): { readonly author: string; readonly slug: string } {
  const slash = id.indexOf('/')
  return slash === -1 ? { author: id, slug: '' } : { author: id.slice(0, slash), slug: id.slice(slash + 1) }
}
