import { GatewayError } from '../../core/error.ts'

/** Where models stand: the name of one and what is asked of it follow, `<model>:<method>`. */
export const MODELS_PATH = '/api/v1beta/models/'
/** The same by the other word its vendor has for the version, which newer clients say unasked. The gateway's own list of models stands there, too. */
export const LATER_PATH = '/api/v1/models/'
/** The same for clients that leave the folder out where a name has a slash of its own. */
export const SHORT_PATH = '/api/v1beta/'

const FOLDERS = [MODELS_PATH, LATER_PATH, SHORT_PATH]

/** The methods that make an answer, as a path ends with them. */
export const METHODS = [':generateContent', ':streamGenerateContent'] as const

/** Those that make vectors. */
export const VECTOR_METHODS = [':embedContent', ':batchEmbedContents'] as const

export interface Asked {
  readonly model: string
  readonly stream: boolean
  /** The stream is to be one list in JSON that comes in pieces, which is the format's own form: events are asked for. */
  readonly listed?: boolean
}

/** The model a path names, and whether and how it asks for a stream. Throws GatewayError `invalid_request` for a name that is none, and a form nobody knows. */
export function askedFor(url: string): Asked {
  const { named, method, query } = inAddress(url)
  const stream = method === ':streamGenerateContent'
  const alt = stream ? formIn(query) : undefined
  if (alt !== undefined && alt !== 'sse' && alt !== 'json')
    throw new GatewayError('invalid_request', 'alt must be "sse" for a stream of server-sent events, or "json" for a list in pieces', { path: 'alt' })
  return { model: modelNamed(named), stream, ...(alt === 'json' ? { listed: true } : {}) }
}

/** By either name its vendor has for it; `json;enum-encoding=int` says how enumerations may come as well. */
function formIn(query: string): string {
  const search = new URLSearchParams(query)
  const [form] = (search.get('alt') ?? search.get('$alt') ?? 'json').toLowerCase().split(';')
  return form!.trim()
}

interface Addressed {
  /** The model as it is written there. */
  readonly named: string
  readonly method: string
  readonly query: string
}

/** What an address of these folders is made of. */
export function inAddress(url: string): Addressed {
  const [path = '', query = ''] = url.split(/\?(.*)/s)
  const named = path.slice(FOLDERS.find((folder) => path.startsWith(folder))?.length)
  const colon = named.lastIndexOf(':')
  return { named: named.slice(0, colon), method: named.slice(colon), query }
}

/** A name as it stands in a path, its slash either way. Throws GatewayError `invalid_request` for none. */
export function modelNamed(written: string): string {
  const name = decoded(written)
  if (name === undefined || name === '')
    throw new GatewayError('invalid_request', `model must be named in the path: ${MODELS_PATH}<author>/<model>:generateContent`, { path: 'model' })
  return name
}

function decoded(written: string): string | undefined {
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

/** Clients of that format send their key, or their own name, where no other has it. */
export const speaksGenerateContent = (headers: { readonly [name: string]: unknown }): boolean =>
  headers['x-goog-api-key'] !== undefined || headers['x-goog-api-client'] !== undefined

/** Where everybody asks for models, also at a wrong place: who names a method speaks this format, and who has its key. */
export const isGenerateContent = (path: string, headers: { readonly [name: string]: unknown }): boolean =>
  !path.includes(LATER_PATH.replace('/api', '')) || /:\w+\/$/.test(path) || speaksGenerateContent(headers)
