import type { Encryption } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type { PresetContent, PresetVersion, StoredPresetVersion } from '../core/preset.ts'
import { presetContext } from '../core/secret-context.ts'
import { Secret } from '../lib/secret.ts'

/** Characters of the content of one preset, as JSON. */
const MAX_CONTENT_CHARS = 256 * 1024

/** Throws GatewayError `invalid_request` if the content is too long. */
export function sealContent(encryption: Encryption, versionId: string, { systemPrompt, config }: PresetContent): string {
  const text = JSON.stringify({ systemPrompt, config })
  if (text.length > MAX_CONTENT_CHARS)
    throw new GatewayError('invalid_request', `The preset has ${text.length} characters; at most ${MAX_CONTENT_CHARS} are kept`)
  return encryption.seal(new Secret(text), presetContext(versionId))
}

/** Throws GatewayError if the envelope has another secret key, or was changed. */
export function openVersion(encryption: Encryption, stored: StoredPresetVersion): PresetVersion {
  const { systemPrompt, config } = JSON.parse(encryption.open(stored.sealed, presetContext(stored.id)).reveal()) as PresetContent
  const { id, presetId, version, creatorId, createdAt } = stored
  return { id, presetId, version, creatorId, createdAt, systemPrompt, config }
}
