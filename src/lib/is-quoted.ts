/** Whether a text stands in quotation marks, as values do that somebody wrote for a shell and whatever read them took as they are. */
export const isQuoted = (text: string): boolean => /^(["']).*\1$/s.test(text.trim())
