import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { GatewayError, isGatewayError } from '../../core/error.ts'
import { MAX_AMOUNT_USD } from '../../core/limit-settings.ts'
import { DEFAULT_WORKSPACE_ID } from '../../core/store.ts'
import { callerOf } from './app.ts'
import { asStored } from './uuid-spelling.ts'

/** Parses a value by its schema. Throws GatewayError `invalid_request` that names one path and one reason. Unknown fields are refused, not ignored. */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const path = [...issue.path.map(String), ...(unknown === undefined ? [] : [unknown])].join('.').slice(0, 120)
  const reason = unknown === undefined ? issue.message : 'this field does not exist or cannot be set'
  throw new GatewayError('invalid_request', `${path === '' ? 'The body' : path}: ${reason}`.slice(0, 500), { path })
}

/** The body must be an object. */
export const parseBody = <T extends z.ZodType>(schema: T, request: FastifyRequest): z.output<T> => parseInput(schema, request.body)

export const parseQuery = <T extends z.ZodType>(schema: T, request: FastifyRequest): z.output<T> => parseInput(schema, request.query)

/** A whole number in an address. */
export const digits = (max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number is expected')
    .transform(Number)
    .pipe(z.int().max(max))

/** An offset may be null, which a query string spells as nothing or as the word. */
export const offsetField = z.preprocess((value) => (value === '' || value === 'null' ? undefined : value), digits(999_999_999).default(0))
export const limitField = digits(100).pipe(z.int().min(1)).default(50)
/** USD. */
export const amountField = z.number().min(0).max(MAX_AMOUNT_USD)

/** One page of a list. */
export const pageOf = <T>(rows: readonly T[], offset: number, limit: number): readonly T[] => rows.slice(offset, offset + limit)

/**
 * How far a management key reaches: undefined, which is the whole installation, for keys of the default workspace, and otherwise its own workspace.
 * What lies outside does not exist for it.
 */
export function scopeOf(request: FastifyRequest): string | undefined {
  const { workspaceId } = callerOf(request).owner
  return workspaceId === DEFAULT_WORKSPACE_ID ? undefined : workspaceId
}

/** The workspace whose calls a request may read; undefined: all. Inference keys see only their own. */
export function workspaceReadable(request: FastifyRequest): string | undefined {
  const { key, owner } = callerOf(request)
  return key.kind === 'management' ? scopeOf(request) : owner.workspaceId
}

/** The workspace a request is about: the one it names, if the caller can reach it, or the caller's own. Throws `not_found`. */
export function workspaceWanted(request: FastifyRequest, spelt: string | undefined): string {
  const named = spelt && asStored(spelt)
  const scope = scopeOf(request)
  if (named !== undefined && scope !== undefined && named !== scope) throw new GatewayError('not_found', 'There is no such workspace')
  return named ?? callerOf(request).owner.workspaceId
}

/** The workspace for something new. The contract's create operations have 403 and no 404, so this throws `permission_denied` for one out of reach. */
export function workspaceForNew(request: FastifyRequest, spelt: string | undefined): string {
  const named = spelt && asStored(spelt)
  const scope = scopeOf(request)
  if (named === undefined || scope === undefined || named === scope) return named ?? callerOf(request).owner.workspaceId
  throw new GatewayError('permission_denied', 'workspace_id: this key belongs to another workspace', { path: 'workspace_id' })
}

/** Creates something in the workspace of `workspaceForNew`. A workspace that does not exist is an error in the body: 400, not 404. */
export async function unlessNoWorkspace<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isGatewayError(error) || error.errorType !== 'not_found') throw error
    throw new GatewayError('invalid_request', 'workspace_id: there is no such workspace', { path: 'workspace_id' })
  }
}

/** The answer to every deletion. */
export const deletedAnswer = z.object({ deleted: z.literal(true) })

export const isoTime = (at: number): string => new Date(at).toISOString()
