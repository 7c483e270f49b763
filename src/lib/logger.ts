/** Structured logging, passed as an argument: fields instead of sentences. Implementations never throw. */
export interface Logger {
  debug(fields: { readonly [name: string]: unknown }, message: string): void
  info(fields: { readonly [name: string]: unknown }, message: string): void
  warn(fields: { readonly [name: string]: unknown }, message: string): void
  error(fields: { readonly [name: string]: unknown }, message: string): void
}

const nothing = (): void => undefined

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
