import type { Routes } from './schema.ts'

export type Route = keyof Routes
export type Answer<R extends Route> = Routes[R]['answer']

/** Names of the required members. */
type Needed<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T]

type Given<Name extends string, T> = [T] extends [undefined]
  ? { readonly [K in Name]?: undefined }
  : [Needed<T>] extends [never]
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T }

/** The input of a route; parts without required members may be omitted. */
export type Input<R extends Route> = Given<'params', Routes[R]['params']> & Given<'query', Routes[R]['query']> & Given<'body', Routes[R]['body']>

export type Args<R extends Route> = [Needed<Input<R>>] extends [never]
  ? [input?: Input<R>, signal?: AbortSignal]
  : [input: Input<R>, signal?: AbortSignal]

/** An error from the gateway, or a failure to reach it (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly errorType: string
  /** The field that the error is about, as named by the gateway: `config.endpoint`. */
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
  /** Called if the gateway does not accept the key, or no longer does. */
  readonly onRefused?: () => void
  readonly limitMs?: number
}

const LIMIT_MS = 30_000
/** The gateway itself waits for a silent platform (110 s) and works through a long queue (60 s), and then reports the outcome. */
const DELIVERY_LIMIT_MS = 120_000

const patienceFor = (route: Route): number =>
  route.includes('/observability/destinations') && !route.startsWith('GET ') ? DELIVERY_LIMIT_MS : LIMIT_MS

/** The error type of an answer that something else wrote, such as a proxy in front of the gateway. */
const FOREIGN = 'foreign_answer'
const FOREIGN_MESSAGE =
  'The answer did not come from the gateway. A proxy in front of it may have ended your session there: reload this page to sign in to it again.'

/** What a proxy answers instead of the gateway to whoever has to sign in to it. */
const SIGN_IN: ReadonlySet<number> = new Set([401, 403])

/** Browsers refuse to send headers with other characters, such as typographic quotes and ellipses, and it would look as if the gateway were unreachable. */
const SENDABLE = /^[\x20-\x7e]*$/

/** Calls routes of the management API by name: `api('GET /api/v1/keys/{hash}', { params: { hash } })`. Rejects with `ApiError`. */
export function createApi({ key, fetch: send = (url, init) => fetch(url, init), onRefused, limitMs }: ApiOptions): Api {
  let refusal: ApiError | undefined
  const refuse = (reason: ApiError): ApiError => {
    // A gateway slows down clients with unknown keys, so after one refusal the key is not sent again.
    if (reason.status !== 401 || reason.errorType === FOREIGN) return reason
    if (refusal === undefined) onRefused?.()
    refusal = reason
    return reason
  }
  const call = async (route: Route, input: Loose = {}, signal?: AbortSignal): Promise<unknown> => {
    const { method, url } = locate(route, input)
    const { body } = input
    if (refusal !== undefined) throw refusal
    if (!SENDABLE.test(key)) throw refuse(new ApiError(401, 'authentication', 'The key contains characters that keys never contain.'))
    const limit = AbortSignal.timeout(limitMs ?? patienceFor(route))
    const response = await reached(() =>
      send(url, {
        method,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    if (response.ok) return answerIn(response, method === 'GET' ? READ : CHANGED)
    throw refuse(refusalOf(response.status, await response.text().catch(() => '')))
  }
  return call as Api
}

/** Members of what the pages read from the gateway, and of what it answers to their changes: each answer has one of them. */
const READ = ['data']
const CHANGED = [...READ, 'deleted', 'assigned_count', 'unassigned_count', 'replayed', 'purged']

/**
 * The answer of the gateway, known by one of these members. A proxy's JSON has none of them: a page that was given it would fail with all that was typed
 * there, and a change would pass for made.
 */
export async function answerIn(response: Response, members: readonly string[]): Promise<unknown> {
  const answer: unknown = await reached(() => response.json())
  if (typeof answer === 'object' && answer !== null && members.some((member) => member in answer)) return answer
  throw new ApiError(0, FOREIGN, FOREIGN_MESSAGE)
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

/** Runs a request to the gateway, and replaces the browser's error for an unreachable gateway, or for a page instead of an answer, by a readable one. */
export async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    if (error instanceof SyntaxError) throw new ApiError(0, FOREIGN, FOREIGN_MESSAGE)
    const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
    throw new ApiError(0, 'unreachable', isTimeout ? 'The gateway did not answer in time.' : 'The gateway cannot be reached.')
  }
}

interface Refusal {
  readonly error?: { readonly message?: string; readonly metadata?: { readonly error_type?: string; readonly path?: string } }
}

/** The error in an answer, whoever wrote it: a proxy in front of the gateway answers with an HTML page. */
export function refusalOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as Refusal
    if (error?.message !== undefined) return new ApiError(status, error.metadata?.error_type ?? 'unknown', error.message, error.metadata?.path)
  } catch {
    // Handled below.
  }
  return new ApiError(status, FOREIGN, SIGN_IN.has(status) ? FOREIGN_MESSAGE : `The gateway answered with status ${status}.`)
}
