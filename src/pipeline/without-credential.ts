import { GatewayError } from '../core/error.ts'
import type { Credential } from '../core/provider.ts'
import { blankTexts } from '../lib/blank-texts.ts'

/** Shorter texts are no keys, and would be found everywhere. */
const MIN_CHARS = 8

/**
 * A failure as the caller, the record and the log may see it, without the credential that was used and without the operator's other secrets that were
 * sent (`secrets`), in case the provider quoted them. Patterns recognize what common keys look like; these are known exactly, and so are the parts of
 * a credential that has several.
 */
export function withoutCredential(error: GatewayError, credential: Credential | undefined, secrets: readonly string[] = []): GatewayError {
  if (credential === undefined && secrets.length === 0) return error
  const known = credential === undefined ? secrets : [...secrets, credential.secret.reveal()]
  const clean = (text: string): string => blank(text, known)
  const { raw, providerCode } = error.details
  const message = clean(error.message)
  const details = {
    ...(raw === undefined ? {} : { raw: clean(raw) }),
    ...(providerCode === undefined ? {} : { providerCode: clean(providerCode) }),
  }
  if (message === error.message && details.raw === raw && details.providerCode === providerCode) return error
  return new GatewayError(error.errorType, message, { ...error.details, ...details })
}

/** A text without the credential, in case it quotes it. */
export function blankCredential(text: string, credential: Credential | undefined): string {
  if (credential === undefined) return text
  return blank(text, [credential.secret.reveal()])
}

function blank(text: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/[\s:;,"'{}[\]\\]+/)]).filter((part) => part.length >= MIN_CHARS)
  return blankTexts(text, parts)
}
