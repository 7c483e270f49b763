/**
 * The price of one hour in the cache as a multiple of the input price, by a model's id at any vendor. Clouds charge the same for it as the maker of
 * the model, but the price data know it for the maker alone.
 */
const HOUR_IN_CACHE: readonly (readonly [id: RegExp, timesInput: number])[] = [[/(?:^|[./-])claude-/, 2]]

/** Undefined if no price by the hour is known. */
export const hourInCache = (id: string): number | undefined => HOUR_IN_CACHE.find(([pattern]) => pattern.test(id))?.[1]
