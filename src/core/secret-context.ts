/** What each envelope is sealed for (`Encryption`): it opens nowhere else, so nothing secret can be moved to another row. */

/** Proves the master key; kept as the fact of the same name. */
export const SECRET_KEY_CANARY = 'secret-key-canary'

export const destinationContext = (id: string, type: string): string => `destination:${id}:${type}`

/** A caller's own credential for a provider. */
export const ownKeyContext = (id: string): string => `own-key:${id}`

/** What one version of a preset sets. */
export const presetContext = (versionId: string): string => `preset:${versionId}`

/** An answer that was kept for whoever asks the same again. */
export const answerContext = (key: string): string => `answer:${key}`

/** A data key for content in the outbox. */
export const contentKeyContext = (keyId: string): string => `outbox-key:${keyId}`

/** Public name of the master key an envelope was sealed with; undefined for what is no envelope. */
export const masterKeyOf = (envelope: string): string | undefined => envelope.split('.')[1]

/** What is sealed itself. A rotation wraps its data key anew and leaves this as it is: the same part holds the same secret. */
export const sealedPartOf = (envelope: string): string | undefined => envelope.split('.')[3]
