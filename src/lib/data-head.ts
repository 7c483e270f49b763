/** More than the type and the parameters of any data URL. */
const MAX_HEAD = 1_024

/**
 * The beginning of a data URL, its data apart. What callers write before the comma may have megabytes, and a pattern that repeats a group runs out
 * of stack over them: a head that does not end in here is none.
 */
export const dataHead = (url: string): string => url.slice(0, MAX_HEAD)
