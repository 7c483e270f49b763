import type { z } from 'zod'
import type { KeyKind } from '../../core/store.ts'

type Schema = z.ZodType

/** Who may call a route: nobody in particular, the holder of any key, or of a key of one kind. */
export type Access = 'public' | 'any' | KeyKind

/** A schema of another document part, by its name among the components. */
export interface ComponentRef {
  readonly component: string
}

/** What `/openapi.json` says of a route. The schemas are the ones the route checks requests with and types its answers by. */
export interface RouteDoc {
  /** `operationId`, the contract's where it has one. */
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly query?: z.ZodObject
  /** Path parameters that are more than texts. */
  readonly params?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: Schema | ComponentRef
  /** A call without a body is one, too. */
  readonly bodyOptional?: boolean
  /** Of success; default 200. */
  readonly status?: 200 | 201
  /** JSON, or a text of this media type. */
  readonly answer: Schema | { readonly mediaType: string }
  /** The component that its refusals are; default `Error`. */
  readonly error?: string
  /** Statuses this route adds to those every route of its kind may answer with, and when. */
  readonly errors?: { readonly [status: number]: string | { readonly when: string; readonly answer: Schema } }
}

/** Of routes that store secrets. */
export const SECRET_KEY_CHANGED = { 412: 'The secret key was changed while this process ran: it has to be restarted with the new one.' }

/** A route as it was registered. */
export interface RegisteredRoute {
  readonly method: string
  /** With parameters as `:name`. */
  readonly url: string
  readonly access: Access
  /** Undefined: nobody has described it, which a test refuses. */
  readonly doc: RouteDoc | undefined
}

const named = new Map<string, Schema>()

/** Gives a schema a name of its own in the document: others then refer to it. Names are unique. */
export function component<T extends Schema>(name: string, schema: T): T {
  if (named.has(name)) throw new Error(`two schemas are named ${name}`)
  named.set(name, schema)
  return schema
}

export const namedSchemas: ReadonlyMap<string, Schema> = named
