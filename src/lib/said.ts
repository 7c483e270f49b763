/** An error as a line of the log, with why: an error of the database's says to callers only that it cannot be used. */
export function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return cause instanceof Error && cause.message !== message ? `${message}: ${cause.message}` : message
}
