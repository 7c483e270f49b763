import { z } from 'zod'
import { REASONING_FORMATS } from '../../core/reasoning-envelope.ts'
import { byType, fields, list, maybe, tagged } from './schema-combinators.ts'

/** Fragments that several parts of the request have in common. */

export const text = maybe(z.string())
export const texts = maybe(list(z.string()))
export const flag = maybe(z.boolean())
/** A size or a count: an integer, zero or more. */
export const count = maybe(z.int().min(0))
/** For limits that may not be zero. */
export const positive = maybe(z.int().min(1))
/** A JSON object that is not validated: a JSON Schema, a vendor's own settings. */
export const anyObject = fields({})
export const itemStatus = maybe(z.enum(['in_progress', 'completed', 'incomplete', 'failed']))
export const temperature = maybe(z.number().min(0).max(2))

export const cacheControl = fields({ type: z.literal('ephemeral'), ttl: maybe(z.enum(['5m', '1h'])) })

export const patchOperation = byType(
  [
    tagged('create_file', { path: z.string(), diff: z.string() }),
    tagged('update_file', { path: z.string(), diff: z.string() }),
    tagged('delete_file', { path: z.string() }),
  ],
  { noun: 'patch operation' },
)

export const shellAction = fields({ commands: list(z.string()), max_output_length: maybe(z.int()), timeout_ms: maybe(z.int()) })

export const shellOutput = list(
  fields({
    stdout: z.string(),
    stderr: z.string(),
    outcome: byType([tagged('exit', { exit_code: z.int() }), tagged('timeout', {})], { noun: 'outcome' }),
  }),
)

export const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

export const reasoningFormat = maybe(z.enum(REASONING_FORMATS))

/** The search engines that callers may name. A test compares both lists with the engines that exist. */
export const SEARCH_ENGINES = ['brave', 'exa', 'firecrawl', 'parallel', 'perplexity', 'searxng', 'tavily'] as const
/** Those of them that also read pages. */
export const PAGE_ENGINES = ['exa', 'firecrawl', 'parallel'] as const
export const searchEngine = maybe(z.enum(['auto', 'native', ...SEARCH_ENGINES]))
export const searchMode = maybe(z.enum(['instant', 'fast', 'auto', 'deep-lite', 'deep', 'deep-reasoning', 'turbo', 'basic', 'advanced']))
export const userLocation = maybe(fields({ type: maybe(z.literal('approximate')), city: text, country: text, region: text, timezone: text }))
