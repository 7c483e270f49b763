/** Command-line flags that override environment and file. */
export interface Overrides {
  readonly config?: string
  readonly data?: string
  readonly port?: number
  readonly host?: string
  readonly role?: string
  readonly workers?: string
}
