/** Longer than the type and parameters of any real data URL. */
const MAX_HEAD = 1_024

/**
 * The part of a data URL before its data. It is cut, because callers may send megabytes before the comma, on which a pattern with a repeated group
 * overflows the stack. A head that does not end within the limit is not valid.
 */
export const dataHead = (url: string): string => url.slice(0, MAX_HEAD)
