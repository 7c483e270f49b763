import type { RetentionConfig } from '../core/config.ts'
import { asGatewayError, GatewayError, type ErrorType } from '../core/error.ts'
import type { RetentionReport } from '../core/retention.ts'
import { defined } from '../lib/defined.ts'
import type { DeliveryEvent } from './worker-options.ts'

/** The operator's settings that may change while the thread runs. */
export interface DeliverySettings {
  readonly serviceName: string
  readonly baseUrls: { readonly [type: string]: string | null }
  readonly allowPrivate: boolean
  readonly retention: RetentionConfig
}

/** What a delivery thread is started with. */
export interface DeliveryThreadData {
  readonly database: { readonly path: string } | { readonly url: string }
  readonly secretKey: Uint8Array
  readonly version: string
  /** Where destinations that write files may write. */
  readonly directory: string
  /** The name of this process in leases; a restarted thread uses the same. */
  readonly owner: string
  /** False: the thread records and selects, and leaves sending to other processes. */
  readonly sends: boolean
  readonly settings: DeliverySettings
  /** Set by the operator: every destination is in privacy mode, whatever its row says. */
  readonly privacyLocked: boolean
}

/** Messages between the gateway's thread and the delivery thread. Plain values only, because they are copied. */
export type ToThread = { readonly kind: 'call'; readonly id: number; readonly method: string; readonly args: readonly unknown[] }

export type FromThread =
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: CopiedError }
  | { readonly kind: 'event'; readonly event: DeliveryEvent }
  /** Workspaces with a destination that needs content; the content of all others need not be handed over. */
  | { readonly kind: 'interest'; readonly workspaces: readonly string[] }
  | { readonly kind: 'queues'; readonly queues: readonly QueueFigures[] }
  | { readonly kind: 'retention'; readonly report: RetentionReport }

/** The queues of all destinations of one type. */
export interface QueueFigures {
  readonly type: string
  readonly queued: number
  /** Milliseconds since the epoch. */
  readonly oldestAt: number | undefined
}

/** A GatewayError without its class, which copying would lose, and without its cause, which may not be copyable. */
export interface CopiedError {
  readonly errorType: ErrorType
  readonly message: string
  readonly path?: string
  readonly retryAfterMs?: number
  /** The cause of an internal error, for the log. */
  readonly cause?: { readonly message: string; readonly stack?: string }
}

export function copyError(thrown: unknown): CopiedError {
  const error = asGatewayError(thrown)
  const { path, retryAfterMs } = error.details
  return {
    errorType: error.errorType,
    message: error.message,
    ...(path === undefined ? {} : { path }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(error.cause instanceof Error ? { cause: { message: error.cause.message, ...defined({ stack: error.cause.stack }) } } : {}),
  }
}

export function restoreError({ errorType, message, cause, ...details }: CopiedError): GatewayError {
  return new GatewayError(errorType, message, {
    ...details,
    ...(cause === undefined ? {} : { cause: Object.assign(new Error(cause.message), cause) }),
  })
}

/** The methods that a thread can be called by. */
export type ThreadMethods = { readonly [method: string]: (...args: never[]) => Promise<unknown> }

/** Answers one call. `post` sends to the other side. */
export function answerCall(methods: ThreadMethods, message: ToThread, post: (message: FromThread) => void): void {
  const { id, method, args } = message
  const run = (Object.hasOwn(methods, method) ? methods[method] : undefined) as ((...args: readonly unknown[]) => Promise<unknown>) | undefined
  const answer = run === undefined ? Promise.reject(new GatewayError('server', `The delivery thread has no method ${method}`)) : run(...args)
  answer.then(
    (value) => post({ kind: 'result', id, value }),
    (error: unknown) => post({ kind: 'error', id, error: copyError(error) }),
  )
}
