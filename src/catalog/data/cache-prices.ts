/**
 * What an hour in the cache costs, in prices of input, by the model's id at any vendor: clouds that sell another's models take for it what their
 * maker does, and the price data know it of the maker alone.
 */
const HOUR_IN_CACHE: readonly (readonly [id: RegExp, timesInput: number])[] = [[/(?:^|[./-])claude-/, 2]]

/** Undefined: nothing is known of hours. */
export const hourInCache = (id: string): number | undefined => HOUR_IN_CACHE.find(([pattern]) => pattern.test(id))?.[1]
