import { applyToItem, isKnownQuiet } from './fold-item.ts'
import { isOver, type Failure, type Item, type Metadata, type Run, type StreamEvent, type Usage } from './run.ts'

/** Everything that can happen to a request after it was sent. */
export type RunEvent =
  | { readonly type: 'head'; readonly id: string | undefined }
  | { readonly type: 'event'; readonly event: StreamEvent }
  /** The answer as one object, if no stream was requested. */
  | { readonly type: 'whole'; readonly response: Resource }
  | { readonly type: 'refused'; readonly status: number; readonly text: string }
  /** The body ended. */
  | { readonly type: 'ended' }
  | { readonly type: 'broken'; readonly message: string }
  | { readonly type: 'stopped' }

/** The members of a response that are used. */
export interface Resource {
  readonly id?: string
  readonly status?: string
  readonly model?: string
  readonly output?: readonly Item[]
  readonly error?: { readonly code?: string; readonly message?: string } | null
  readonly error_type?: string
  readonly incomplete_details?: { readonly reason?: string } | null
  readonly usage?: Usage | null
  readonly gateway_metadata?: Metadata
}

/** The state after one more event; `at`: a time on the clock that the run started with. Never throws, because streams come from other programs. */
export function fold(run: Run, happening: RunEvent, at: number): Run {
  switch (happening.type) {
    case 'head':
      return { ...run, id: happening.id ?? run.id }
    case 'event':
      return foldEvent(run, happening.event, at)
    case 'whole':
      return finish(run, happening.response, happening.response.status ?? 'completed', at)
    case 'refused':
      return refuse(run, happening.status, happening.text, at)
    case 'ended':
      if (isOver(run)) return run
      // An `error` event has given the reason even if the terminal event is missing.
      return run.failure === undefined ? close(run, 'broken', at, CUT) : close(run, 'failed', at)
    case 'broken':
      return isOver(run) ? run : close(run, 'broken', at, { message: happening.message })
    case 'stopped':
      return isOver(run) ? run : close(run, 'stopped', at)
  }
}

const CUT: Failure = { message: 'The connection ended before the answer did.' }

const close = (run: Run, phase: Run['phase'], at: number, failure: Failure | undefined = run.failure): Run => ({
  ...run,
  phase,
  failure,
  endedAt: at,
})

function foldEvent(run: Run, event: StreamEvent, at: number): Run {
  const { type } = event
  switch (type) {
    case 'response.created':
    case 'response.in_progress':
    case 'response.queued':
      return begin(run, resourceOf(event))
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return finish(run, resourceOf(event), type.slice('response.'.length), at)
    case 'error':
      return { ...run, failure: failureOfEvent(event) }
    case 'response.debug':
      return { ...run, debug: [...run.debug, event['debug']] }
    default:
      return foldItem(run, event, at)
  }
}

function foldItem(run: Run, event: StreamEvent, at: number): Run {
  const items = applyToItem(run.items, event)
  if (items === undefined) {
    if (isKnownQuiet(event.type)) return run
    return { ...run, unknown: { ...run.unknown, [event.type]: (run.unknown[event.type] ?? 0) + 1 } }
  }
  const first = run.firstAt ?? (event.type.endsWith('.delta') ? at : undefined)
  return { ...run, phase: isOver(run) ? run.phase : 'streaming', items, firstAt: first }
}

const resourceOf = (event: StreamEvent): Resource => (isObject(event['response']) ? event['response'] : {})

const begin = (run: Run, { id, model }: Resource): Run => ({
  ...run,
  phase: isOver(run) ? run.phase : 'streaming',
  id: id ?? run.id,
  model: model ?? run.model,
})

function finish(run: Run, resource: Resource, status: string, at: number): Run {
  const phase = status === 'failed' || status === 'incomplete' ? status : 'completed'
  const reported = resource.error ?? undefined
  const failure: Failure | undefined =
    reported?.message === undefined
      ? run.failure
      : { message: reported.message, code: reported.code, errorType: resource.error_type ?? run.failure?.errorType }
  return {
    ...begin(run, resource),
    phase,
    // The last event contains the whole answer; if it contains none, what was shown stays.
    items: Array.isArray(resource.output) && resource.output.length > 0 ? resource.output : run.items,
    reason: resource.incomplete_details?.reason,
    failure: phase === 'failed' ? (failure ?? { message: 'The answer failed without a reason.' }) : run.failure,
    usage: resource.usage ?? run.usage,
    metadata: resource.gateway_metadata ?? run.metadata,
    endedAt: at,
  }
}

function failureOfEvent(event: StreamEvent): Failure {
  const nested = isObject(event['error']) ? event['error'] : {}
  const text = (name: string): string | undefined => textOf(event[name]) ?? textOf(nested[name])
  return { message: text('message') ?? 'The stream reported an error without a message.', code: text('code'), errorType: textOf(nested['type']) }
}

interface Envelope {
  readonly error?: {
    readonly message?: unknown
    readonly metadata?: { readonly error_type?: string; readonly path?: string; readonly [name: string]: unknown }
  }
  readonly gateway_metadata?: Metadata
  readonly debug?: unknown
}

/** An error as written by the gateway, or by a proxy in front of it. */
function refuse(run: Run, status: number, text: string, at: number): Run {
  const envelope = parsed(text) as Envelope | undefined
  const message = textOf(envelope?.error?.message) ?? `The gateway answered with status ${status}.`
  const { error_type: errorType, path, attempts, ...rest } = envelope?.error?.metadata ?? {}
  const tried = Array.isArray(attempts) ? { attempts: attempts as NonNullable<Metadata['attempts']> } : undefined
  const metadata = tried === undefined ? envelope?.gateway_metadata : { ...tried, ...envelope?.gateway_metadata }
  const details = Object.keys(rest).length === 0 ? undefined : rest
  return {
    ...close(run, 'refused', at, { message, code: String(status), errorType, path, details }),
    metadata: metadata ?? run.metadata,
    debug: envelope?.debug === undefined ? run.debug : [...run.debug, envelope.debug],
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
