const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Whether a text can be the value of an HTTP header as Node sends it: Latin-1 without control characters other than tabs (RFC 9110, 5.5). */
export const isHeaderValue = (text: string): boolean => HEADER_VALUE.test(text)
