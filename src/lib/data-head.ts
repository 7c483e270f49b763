/** More than the type and the parameters of any data URL. */
const MAX_HEAD = 1_024

/**
 * The beginning of a data URL, before its data. It is cut, because callers may send megabytes before the comma, on which a pattern that repeats a
 * group overflows the stack; a head that does not end within it is none.
 */
export const dataHead = (url: string): string => url.slice(0, MAX_HEAD)
