import { GatewayError } from '../../core/error.ts'

/** The folder of models; the name of one and a method follow: `<model>:<method>`. */
export const MODELS_PATH = '/api/v1beta/models/'
/** The same with the vendor's other version name, which newer clients use by default. The gateway's own model list is below it, too. */
export const LATER_PATH = '/api/v1/models/'
/** The same for clients that omit the folder if a model's name contains a slash. */
export const SHORT_PATH = '/api/v1beta/'

const FOLDERS = [MODELS_PATH, LATER_PATH, SHORT_PATH]

/** The methods that generate an answer, as endings of a path. */
export const METHODS = [':generateContent', ':streamGenerateContent'] as const

/** The methods that make vectors. */
export const VECTOR_METHODS = [':embedContent', ':batchEmbedContents'] as const

export interface Asked {
  readonly model: string
  readonly stream: boolean
  /** The stream is to be one JSON list sent in pieces, which is this format's default; events have to be asked for. */
  readonly listed?: boolean
}

/** The model that a path names, and whether and how it asks for a stream. Throws GatewayError `invalid_request` for an invalid name or an unknown form. */
export function askedFor(url: string): Asked {
  const { named, method, query } = inAddress(url)
  const stream = method === ':streamGenerateContent'
  const alt = stream ? formIn(query) : undefined
  if (alt !== undefined && alt !== 'sse' && alt !== 'json')
    throw new GatewayError('invalid_request', 'alt must be "sse" for a stream of server-sent events, or "json" for a list in pieces', { path: 'alt' })
  return { model: modelNamed(named), stream, ...(alt === 'json' ? { listed: true } : {}) }
}

/** The parameter has two names at the vendor's; `json;enum-encoding=int` may add how enumerations are written. */
function formIn(query: string): string {
  const search = new URLSearchParams(query)
  const [form] = (search.get('alt') ?? search.get('$alt') ?? 'json').toLowerCase().split(';')
  return form!.trim()
}

interface Addressed {
  /** The model as written in the address. */
  readonly named: string
  readonly method: string
  readonly query: string
}

/** Splits an address below these folders. */
export function inAddress(url: string): Addressed {
  const [path = '', query = ''] = url.split(/\?(.*)/s)
  const named = path.slice(FOLDERS.find((folder) => path.startsWith(folder))?.length)
  const colon = named.lastIndexOf(':')
  return { named: named.slice(0, colon), method: named.slice(colon), query }
}

/** The model's name from a path, its slash escaped or not. Throws GatewayError `invalid_request` if there is none. */
export function modelNamed(written: string): string {
  const name = decoded(written)
  if (name === undefined || name === '')
    throw new GatewayError('invalid_request', `model must be named in the path: ${MODELS_PATH}<author>/<model>:generateContent`, { path: 'model' })
  return name
}

/** Undefined if an escape is invalid. */
export function decoded(written: string): string | undefined {
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

/** Clients of this format send their key, or their own name, in headers that no other format has. */
export const speaksGenerateContent = (headers: { readonly [name: string]: unknown }): boolean =>
  headers['x-goog-api-key'] !== undefined || headers['x-goog-api-client'] !== undefined

/** Whether a request is of this format. Below the folder of the gateway's own model list, it has to name a method or to have this format's headers. */
export const isGenerateContent = (path: string, headers: { readonly [name: string]: unknown }): boolean =>
  !path.includes(LATER_PATH.replace('/api', '')) || /:\w+\/$/.test(path) || speaksGenerateContent(headers)
