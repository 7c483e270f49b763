/** When a secret of a key was last accepted, to the minute. */
export interface KeyUse {
  readonly keyHash: string
  /** SHA-256 of the secret that was sent, hex. */
  readonly secretHash: string
  /** Start of the minute, milliseconds since the epoch. */
  readonly at: number
}

/** Uses are no configuration: writing them does not move the store's `version`. */
export interface KeyUseStore {
  /**
   * The latest time of each secret stays, whoever writes it and in whatever order, unless it is far after `now`: then somebody's clock was wrong. Uses
   * of keys that do not exist are left out.
   */
  note(uses: readonly KeyUse[], now: number): Promise<void>
  /** The uses of these keys. A secret that was never used has none. */
  of(keyHashes: readonly string[]): Promise<readonly KeyUse[]>
}
