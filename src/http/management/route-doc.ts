import type { z } from 'zod'
import type { KeyKind } from '../../core/store.ts'

type Schema = z.ZodType

/** Who may call a route: everybody, holders of any key, or of one kind of key. */
export type Access = 'public' | 'any' | KeyKind

/** Another component's schema, by name. */
export interface ComponentRef {
  readonly component: string
}

/** What `/openapi.json` says about a route. The schemas are those that the route validates requests with and types its answers by. */
export interface RouteDoc {
  /** `operationId`: the contract's if it has one. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly query?: z.ZodObject
  /** Path parameters that are not plain text. */
  readonly params?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: Schema | ComponentRef
  /** A call without a body is valid, too. */
  readonly bodyOptional?: boolean
  /** The status of success; default 200. */
  readonly status?: 200 | 201
  /** JSON, or text of this media type. */
  readonly answer: Schema | { readonly mediaType: string }
  /** The component of its errors; default `Error`. */
  readonly error?: string
  /** Statuses of this route besides those that every route of its kind may answer with, and when. */
  readonly errors?: { readonly [status: number]: string | { readonly when: string; readonly answer: Schema } }
}

/** The route stores secrets. */
export const SECRET_KEY_CHANGED = { 412: 'The secret key was changed while this process ran: it has to be restarted with the new one.' }

/** A route as it was registered. */
export interface RegisteredRoute {
  readonly method: string
  /** With parameters as `:name`. */
  readonly url: string
  readonly access: Access
  /** Undefined if nobody has described it, which a test refuses. */
  readonly doc: RouteDoc | undefined
}

const named = new Map<string, Schema>()

/** Gives a schema a unique name in the document, by which others refer to it. */
export function component<T extends Schema>(name: string, schema: T): T {
  if (named.has(name)) throw new Error(`two schemas are named ${name}`)
  named.set(name, schema)
  return schema
}

export const namedSchemas: ReadonlyMap<string, Schema> = named
