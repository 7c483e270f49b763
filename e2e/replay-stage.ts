import { PROVIDERS } from '../src/providers/index.ts'
import type { Recording } from '../src/testing/recordings.ts'
import { replayModel } from '../src/testing/replay-server.ts'

/** Recorded answers behind a gateway, and which recordings are not answers. */

/** Formats of the recordings, and the dialect for each. */
export const REPLAYED: { readonly [format: string]: string } = {
  anthropic: 'anthropic-messages',
  'bedrock-converse': 'bedrock-converse',
  chat: 'openai-chat',
  'cohere-v2': 'cohere-v2',
  gemini: 'gemini',
  responses: 'openai-responses',
}

/** Vendors whose names in the recordings differ from the gateway's. */
const SLUGS: { readonly [recorded: string]: string } = { bedrock: 'amazon-bedrock', snowflake: 'snowflake-cortex' }

/** Failures reported inside an answer, and their finish reasons: errors, blocked prompts, calls of tools that were never offered. */
const FAILED = /^error\.in_|^finish:(?:blocked|UNEXPECTED_TOOL_CALL)$/
/** Recordings that are not answers: an empty one, and two spliced together. */
const NO_ANSWER = /respects_choice_none|va-spliced-message-start/
/** Answers that a filter stopped before their first word. */
const WORDLESS = /google_model_safety_settings\/00|armor_response_template_real_block/
export const isFailure = ({ name, status, features }: Recording): boolean =>
  status >= 400 || features.some((feature) => FAILED.test(feature)) || (NO_ANSWER.test(name) && name.startsWith('anthropic/')) || WORDLESS.test(name)

/** Recorded refusals whose meaning differs from their status, by a part of their name. */
const EXPECTED_FAILURES: readonly (readonly [name: RegExp, status: number, errorType: string])[] = [
  // The account's quota of tokens per minute was exceeded before the model's limit.
  [/gemini_.*context_length/, 429, 'rate_limit_exceeded'],
  [/context_length/, 400, 'context_length_exceeded'],
  // A key that the vendor rejects is the gateway's, not the caller's; the same applies to an account without money.
  [/(?:xai|gemini).*raises_appropri/, 502, 'provider_unavailable'],
  [/va-openai-error/, 502, 'provider_unavailable'],
  [/openrouter_stream_error/, 400, 'token_limit_exceeded'],
  // The model failed, not the caller, and another endpoint may succeed.
  [/tool_use_failed|url-image-google_vertex\/00/, 502, 'provider_unavailable'],
  [/url-image-google_vertex\/03/, 400, 'image_download_failed'],
  [/armor_prompt_template/, 400, 'content_policy_violation'],
  [WORDLESS, 400, 'content_policy_violation'],
  [/tool_return_content-url-audio|rejects_interleaved/, 400, 'invalid_prompt'],
  [/respects_choice_none|va-spliced-message-start/, 502, 'provider_unavailable'],
]

const BY_STATUS: { readonly [status: number]: readonly [number, string] } = {
  400: [400, 'invalid_request'],
  401: [502, 'provider_unavailable'],
  403: [502, 'provider_unavailable'],
  404: [404, 'not_found'],
  429: [429, 'rate_limit_exceeded'],
}

export function expectedFailure(name: string, { status }: Recording): readonly [number, string] {
  const listed = EXPECTED_FAILURES.find(([pattern]) => pattern.test(name))
  return listed === undefined ? BY_STATUS[status]! : [listed[1], listed[2]]
}

/** Each vendor as the gateway declares it, with a different address; vendors that it does not know are servers of the dialect. */
export function configFor(recordings: readonly Recording[], dialect: string, url: string): { readonly [key: string]: unknown } {
  const slugOf = ({ provider }: Recording): string => SLUGS[provider] ?? provider
  const known = new Map(PROVIDERS.map((provider) => [provider.slug, provider]))
  const providers = [...new Set(recordings.map(slugOf))].map((slug) => ({
    slug,
    dialect,
    base_url: url,
    api_keys: ['upstream-key'],
    ...(known.has(slug) ? {} : { name: slug }),
  }))
  const models = recordings.flatMap((recording, n) =>
    (['whole', 'cut'] as const).map((how) => ({
      slug: `replay/${replayModel(n, how)}`,
      context_length: 1_000_000,
      endpoints: [{ provider: slugOf(recording), upstream_model: replayModel(n, how), pricing: { input: 1, output: 2 } }],
    })),
  )
  return { providers, models, routing: { cooldown: false, retries: false, sticky: false } }
}
