import type { Dialect, Target } from '../core/dialect.ts'

/** An endpoint that supports all that its dialect can express. `options`: those that are not the dialect's defaults. */
export const anyTarget = (dialect: Dialect, options: object = {}): Target => ({
  provider: 'acme',
  providerName: 'Acme',
  upstreamModel: 'small-1',
  options: dialect.options.parse(options),
  supports: new Set(dialect.supports),
  contextLength: 128_000,
  scope: 'acme/main',
  stream: true,
})
