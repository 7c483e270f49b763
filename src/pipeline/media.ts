import type { Call } from '../core/call.ts'
import type { FetchedMedia } from '../core/dialect.ts'
import { GatewayError } from '../core/error.ts'
import type { InputItem } from '../core/item.ts'
import { addressOfDrawn } from '../core/picture-items.ts'
import { EgressError, type Egress, type EgressResponse } from '../lib/egress.ts'
import { sniffMediaType } from '../lib/media-type.ts'
import { redirectTarget } from '../lib/redirect-target.ts'

/** Fetches media for dialects that need bytes where the caller gave addresses. */
export interface MediaLoader {
  /**
   * The media at addresses in a call's input. Later attempts and turns of the call find what an earlier one fetched, failures included. Throws
   * GatewayError `image_download_failed`, `image_too_large` or `unsupported_image_format`.
   */
  load(call: Call, urls: readonly string[]): Promise<ReadonlyMap<string, FetchedMedia>>
}

export interface MediaLimits {
  /** Bytes of one file. */
  readonly bytes: number
  /** Bytes of all files of a call. */
  readonly bytesPerCall: number
  /** Milliseconds for all files an attempt waits for, redirects included. */
  readonly timeoutMs: number
  readonly files: number
}

const DEFAULT_LIMITS: MediaLimits = { bytes: 20 * 1024 * 1024, bytesPerCall: 60 * 1024 * 1024, timeoutMs: 30_000, files: 50 }
const MAX_REDIRECTS = 3
const PARALLEL = 4
const MAX_SHOWN_URL = 200

/** What one call has fetched so far. */
interface Cache {
  readonly media: Map<string, Promise<FetchedMedia>>
  bytes: number
}

/**
 * Loads through the safe egress: the addresses are the caller's, so neither they nor redirects may lead into the operator's network.
 * @param egress asked for at every load, because a reload of the configuration may replace it
 */
export function createMediaLoader(egress: () => Egress, limits: MediaLimits = DEFAULT_LIMITS): MediaLoader {
  // By trace: the turns of a tool loop are calls of their own with the same input.
  const caches = new WeakMap<Call['trace'], Cache>()
  return {
    async load(call, urls) {
      if (urls.length > limits.files) {
        throw new GatewayError('invalid_request', `The input names ${urls.length} media to fetch; at most ${limits.files} are allowed`, {
          path: 'input',
        })
      }
      const cache: Cache = caches.get(call.trace) ?? { media: new Map(), bytes: 0 }
      caches.set(call.trace, cache)
      const places = placesOf(call.request.input)
      const until = performance.now() + limits.timeoutMs
      const fetched = new Map<string, FetchedMedia>()
      const waiting = [...urls]
      const work = async (): Promise<void> => {
        for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
          let media = cache.media.get(url)
          if (media === undefined) {
            const place = places.get(url) ?? { path: 'input', isImage: false }
            media = fetchOne({ egress: egress(), limits, until, signal: call.signal, place }, url, cache)
            cache.media.set(url, media)
          }
          fetched.set(url, await media)
        }
      }
      try {
        await Promise.all(Array.from({ length: Math.min(PARALLEL, urls.length) }, work))
      } catch (error) {
        waiting.length = 0
        throw error
      }
      return fetched
    },
  }
}

/** Where an address stands, and whether only an image may stand there. */
interface Place {
  readonly path: string
  readonly isImage: boolean
}

const ADDRESSES = ['image_url', 'file_url', 'file_data', 'video_url'] as const

function placesOf(input: readonly InputItem[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const [index, item] of input.entries()) {
    const drawn = addressOfDrawn(item)
    if (drawn !== undefined) places.set(drawn, { path: `input[${index}].result`, isImage: true })
    const field = 'content' in item ? 'content' : 'output'
    const parts = (item as { readonly [field: string]: unknown })[field]
    if (!Array.isArray(parts)) continue
    for (const [at, part] of (parts as readonly ({ readonly [field: string]: unknown } | null)[]).entries()) {
      // Items of unknown types are not validated, so their lists may hold anything.
      if (part === null) continue
      for (const name of ADDRESSES) {
        const url = part[name]
        if (typeof url !== 'string') continue
        const before = places.get(url)
        const isImage = part['type'] === 'input_image' || before?.isImage === true
        places.set(url, { path: before?.path ?? `input[${index}].${field}[${at}].${name}`, isImage })
      }
    }
  }
  return places
}

interface Fetching {
  readonly egress: Egress
  readonly limits: MediaLimits
  /** On the monotonic clock. */
  readonly until: number
  readonly signal: AbortSignal
  readonly place: Place
}

async function fetchOne(fetching: Fetching, url: string, cache: Cache): Promise<FetchedMedia> {
  const { limits, place } = fetching
  const { headers, body, truncated } = await follow(fetching, url)
  if (truncated) throw failure('image_too_large', place, url, `is larger than ${limits.bytes} bytes`)
  cache.bytes += body.length
  if (cache.bytes > limits.bytesPerCall)
    throw failure('image_too_large', place, url, `would make the media of this call larger than ${limits.bytesPerCall} bytes`)
  const mimeType = sniffMediaType(body, headers['content-type'])
  if (mimeType === undefined) throw failure('unsupported_image_format', place, url, 'is of no known media type')
  if (place.isImage && !mimeType.startsWith('image/')) throw failure('unsupported_image_format', place, url, `is no image but ${mimeType}`)
  return { mimeType, data: body.toString('base64') }
}

/** The answer after redirects; each step is checked like the first. */
async function follow(fetching: Fetching, start: string): Promise<EgressResponse> {
  let url = start
  for (let step = 0; step <= MAX_REDIRECTS; step++) {
    const response = await request(fetching, url, start)
    const { location } = response.headers
    if (response.status >= 300 && response.status < 400 && location !== undefined) {
      const next = redirectTarget(location, url)
      if (next === null) throw failure('image_download_failed', fetching.place, start, 'redirects to no address')
      url = next.href
      continue
    }
    if (response.status !== 200) throw failure('image_download_failed', fetching.place, start, `answered with status ${response.status}`)
    if (response.body.length === 0) throw failure('image_download_failed', fetching.place, start, 'answered with nothing')
    return response
  }
  throw failure('image_download_failed', fetching.place, start, 'redirects too often')
}

async function request(fetching: Fetching, url: string, start: string): Promise<EgressResponse> {
  const { egress, limits, until, signal } = fetching
  const timeoutMs = Math.max(1, Math.ceil(until - performance.now()))
  try {
    return await egress.request({ method: 'GET', url, headers: { accept: '*/*' }, timeoutMs, maxResponseBytes: limits.bytes, signal })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    throw failure('image_download_failed', fetching.place, start, error.message, error)
  }
}

/** Only origin and path: queries and userinfo may be credentials. An address without them is named by its place in the request. */
function shownUrl(url: string, { path }: Place): string {
  const parsed = URL.parse(url)
  return parsed === null || parsed.origin === 'null' ? path : parsed.origin + parsed.pathname
}

/** Another endpoint may be able to read the address itself. */
function failure(
  type: 'image_download_failed' | 'image_too_large' | 'unsupported_image_format',
  place: Place,
  url: string,
  what: string,
  cause?: unknown,
): GatewayError {
  const shown = shownUrl(url, place).slice(0, MAX_SHOWN_URL)
  return new GatewayError(type, `${shown}: ${what}`, { path: place.path, failover: 'next', ...(cause === undefined ? {} : { cause }) })
}
