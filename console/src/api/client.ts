import type { Routes } from './schema.ts'

export type Route = keyof Routes
export type Answer<R extends Route> = Routes[R]['answer']

/** Names of the members that have to be given. */
type Needed<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T]

type Given<Name extends string, T> = [T] extends [undefined]
  ? { readonly [K in Name]?: undefined }
  : [Needed<T>] extends [never]
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T }

/** What a route takes; parts that have nothing required may be left out. */
export type Input<R extends Route> = Given<'params', Routes[R]['params']> & Given<'query', Routes[R]['query']> & Given<'body', Routes[R]['body']>

export type Args<R extends Route> = [Needed<Input<R>>] extends [never]
  ? [input?: Input<R>, signal?: AbortSignal]
  : [input: Input<R>, signal?: AbortSignal]

/** A refusal of the gateway, or that it was not reached (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly errorType: string
  /** The field a refusal is about, as the gateway names it: `config.endpoint`. */
  readonly path: string | undefined

  constructor(status: number, errorType: string, message: string, path?: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.errorType = errorType
    this.path = path
  }
}

export type Api = <R extends Route>(route: R, ...args: Args<R>) => Promise<Answer<R>>

export interface ApiOptions {
  readonly key: string
  readonly fetch?: typeof fetch
  /** The key is not, or no longer, one of this gateway. */
  readonly onRefused?: () => void
  readonly limitMs?: number
}

const LIMIT_MS = 30_000
/** The gateway itself waits for a platform that is silent (110 s) and works through a long queue (60 s), and then says how that went. */
const DELIVERY_LIMIT_MS = 120_000

const patienceFor = (route: Route): number =>
  route.includes('/observability/destinations') && !route.startsWith('GET ') ? DELIVERY_LIMIT_MS : LIMIT_MS

/** With other letters, as quotes and dots of text programs, a browser sends nothing: it would look as if the gateway were away. */
const SENDABLE = /^[\x20-\x7e]*$/

/** Calls routes of the management API by name: `api('GET /api/v1/keys/{hash}', { params: { hash } })`. Rejects with `ApiError`. */
export function createApi({ key, fetch: send = (url, init) => fetch(url, init), onRefused, limitMs }: ApiOptions): Api {
  let refusal: ApiError | undefined
  const refuse = (reason: ApiError): ApiError => {
    // A gateway slows down who sends keys that it does not know: one is refused once, and then nobody asks with it any more.
    if (refusal === undefined && reason.status === 401) onRefused?.()
    if (reason.status === 401) refusal = reason
    return reason
  }
  const call = async (route: Route, input: Loose = {}, signal?: AbortSignal): Promise<unknown> => {
    const { method, url } = locate(route, input)
    const { body } = input
    if (refusal !== undefined) throw refusal
    if (!SENDABLE.test(key)) throw refuse(new ApiError(401, 'authentication', 'The key has letters that no key has.'))
    const limit = AbortSignal.timeout(limitMs ?? patienceFor(route))
    const response = await reached(() =>
      send(url, {
        method,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    if (response.ok) return reached(() => response.json())
    throw refuse(refusalOf(response.status, await response.text().catch(() => '')))
  }
  return call as Api
}

interface Loose {
  readonly params?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string | number | undefined }
  readonly body?: unknown
}

function locate(route: Route, { params = {}, query = {} }: Loose): { readonly method: string; readonly url: string } {
  const space = route.indexOf(' ')
  const path = route.slice(space + 1).replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, String(value))
  return { method: route.slice(0, space), url: search.size === 0 ? path : `${path}?${search.toString()}` }
}

/** Does what asks the gateway: that it did not answer is told in words of people, not of the browser. */
export async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    const late = error instanceof DOMException && error.name === 'TimeoutError'
    throw new ApiError(0, 'unreachable', late ? 'The gateway did not answer in time.' : 'The gateway cannot be reached.')
  }
}

interface Refusal {
  readonly error?: { readonly message?: string; readonly metadata?: { readonly error_type?: string; readonly path?: string } }
}

/** What a refusal says, whoever wrote it: a proxy in front answers with a page. */
export function refusalOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as Refusal
    if (error?.message !== undefined) return new ApiError(status, error.metadata?.error_type ?? 'unknown', error.message, error.metadata?.path)
  } catch {
    // Told below.
  }
  return new ApiError(status, 'unknown', `The gateway answered with status ${status}.`)
}
