/** The context that each envelope is sealed for (`Encryption`). An envelope opens in no other context, so no secret can be moved to another row. */

/** Proves that the master key is correct; stored as the fact of the same name. */
export const SECRET_KEY_CANARY = 'secret-key-canary'

export const destinationContext = (id: string, type: string): string => `destination:${id}:${type}`

/** A caller's own credential for a provider. */
export const ownKeyContext = (id: string): string => `own-key:${id}`

/** The content of one version of a preset. */
export const presetContext = (versionId: string): string => `preset:${versionId}`

/** A cached answer. */
export const answerContext = (key: string): string => `answer:${key}`

/** A data key for content in the outbox. */
export const contentKeyContext = (keyId: string): string => `outbox-key:${keyId}`

/** Public id of the master key that an envelope was sealed with; undefined if the text is no envelope. */
export const masterKeyOf = (envelope: string): string | undefined => envelope.split('.')[1]

/** The encrypted secret itself. A key rotation wraps only the data key again and does not change this part, so equal parts mean the same secret. */
export const sealedPartOf = (envelope: string): string | undefined => envelope.split('.')[3]
