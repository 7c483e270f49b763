import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { GatewayError, isGatewayError } from '../core/error.ts'
import type { Connection, Provider, ProviderSettings, SignableRequest } from '../core/provider.ts'
import { systemClock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'
import { CLAUDE_OPTIONS } from './shared/claude.ts'
import { GEMINI_TIER_FACTORS } from './shared/gemini.ts'
import { createGoogleTokens, parseGoogleCredentials } from './shared/google-auth.ts'
import type { GoogleCredentials, GoogleTokens } from './shared/google-auth.ts'

const PROJECT = /^[a-z0-9:.-]+$/

const location = z.string().regex(/^[a-z0-9-]+$/)

const settings = z.strictObject({
  /** Default: the project of the key file. Without any project, requests go to the express endpoint, which accepts API keys. */
  project: z.string().regex(PROJECT).optional(),
  /** `global`, a region such as europe-west4, or a multi-region (`us`, `eu`). */
  location: location.optional(),
  /** An older name for `location`. */
  region: location.optional(),
  /** A key file: its path, or its content as text or object. Used if there are no API keys. */
  credentials: z.union([z.string().min(1), z.record(z.string(), z.unknown())]).optional(),
})

/** How one credential authenticates. Its kind follows from its form. */
interface Proof {
  readonly headers: (signal: AbortSignal) => Promise<{ readonly [header: string]: string }>
  /** The project that it belongs to, if it says so. */
  readonly project?: string | undefined
}

const API_KEY = /^(?:AIza|AQ\.)/
const isKeyFile = (text: string): boolean => text.startsWith('{') || /^(?:[~.]{0,2}\/|[a-zA-Z]:\\)|\.json$/.test(text)

const unusable = (message: string, cause: unknown): GatewayError => new GatewayError('authentication', message, { credentialDead: true, cause })

/** Whatever is wrong with an operator's key file, a call is not to blame, and another credential or endpoint may serve it. */
function readKeyFile(text: string): GoogleCredentials {
  const content = text.startsWith('{') ? text : contentOf(text)
  try {
    return parseGoogleCredentials(content)
  } catch (error) {
    throw isGatewayError(error) ? unusable(error.message, error) : error
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unusable('The key file cannot be read', error)
  }
}

/**
 * API keys go into a separate header, access tokens are sent as they are, and key files are exchanged for tokens. Only the operator may name files on
 * this machine and the endpoint of the exchange; a caller's key is never read as a path.
 */
function proofOf(text: string, isOperators: boolean): Proof {
  if (API_KEY.test(text)) return { headers: async () => ({ 'x-goog-api-key': text }) }
  const credentials = isOperators && isKeyFile(text) ? readKeyFile(text) : text.startsWith('{') ? parseGoogleCredentials(text, false) : undefined
  if (credentials === undefined) return { headers: async () => ({ authorization: `Bearer ${text}` }) }
  const readAgain = isOperators ? () => readKeyFile(text) : () => credentials
  const tokens = tokensOfFile(credentials, readAgain)
  return { headers: async (signal) => ({ authorization: `Bearer ${await tokens.get(signal)}` }), project: credentials.projectId }
}

/**
 * Tokens of a key file that may be exchanged while the gateway runs: mounted secrets are, and the old key is then deleted at the vendor. What the file
 * says now counts as soon as the vendor refuses what it said before.
 */
function tokensOfFile(first: GoogleCredentials, readAgain: () => GoogleCredentials): GoogleTokens {
  let current = { credentials: first, tokens: createGoogleTokens(first, systemClock) }
  return {
    async get(signal) {
      const used = current
      try {
        return await used.tokens.get(signal)
      } catch (error) {
        if (!isGatewayError(error) || error.errorType !== 'authentication') throw error
        // Another call may have read it meanwhile.
        if (current === used) {
          const credentials = readAgain()
          if (isDeepStrictEqual(credentials, used.credentials)) throw error
          current = { credentials, tokens: createGoogleTokens(credentials, systemClock) }
        }
        return current.tokens.get(signal)
      }
    },
  }
}

const MAX_PROOFS = 1000

/** `inProject` gives a URL the project of a credential. */
function createSign(
  operators: ReadonlySet<Secret>,
  fallback: string | undefined,
  inProject: (url: string, project: string | undefined) => string,
): NonNullable<Connection['sign']> {
  const proofs = new Map<string, Proof>()
  return async (request, credential, signal): Promise<SignableRequest> => {
    const text = (credential?.secret.reveal() ?? fallback)?.trim()
    if (text === undefined || text === '') return request
    // The owner of a credential is part of the cache key: a caller who knows the path of the operator's key file must not get its token.
    const isOperators = credential === undefined || operators.has(credential.secret)
    const known = `${isOperators ? 'operator' : 'caller'} ${text}`
    let proof = proofs.get(known)
    if (proof === undefined) {
      // Callers may bring their own keys, so the number of cached proofs is bounded.
      if (proofs.size >= MAX_PROOFS) proofs.clear()
      proofs.set(known, (proof = proofOf(text, isOperators)))
    }
    const headers = await proof.headers(signal)
    return { ...request, url: inProject(request.url, proof.project), headers: { ...request.headers, ...headers } }
  }
}

/** The project that a key file names; undefined if there is none, or if the file is not there yet, which signing will report. */
function projectOf(credentials: Iterable<string>): string | undefined {
  for (const text of credentials) {
    if (!isKeyFile(text)) continue
    try {
      const { projectId } = readKeyFile(text)
      if (projectId !== undefined) return projectId
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
    }
  }
  return undefined
}

function hostOf(place: string): string {
  if (place === 'global') return 'aiplatform.googleapis.com'
  return place === 'us' || place === 'eu' ? `aiplatform.${place}.rep.googleapis.com` : `${place}-aiplatform.googleapis.com`
}

function connect({ apiKeys, extra }: ProviderSettings): Pick<Connection, 'baseUrl' | 'sign'> {
  const { project: named, location: place = settings.parse(extra).region ?? 'global', credentials } = settings.parse(extra)
  const keyFile = typeof credentials === 'object' ? JSON.stringify(credentials) : credentials?.trim()
  const project = named ?? projectOf([...apiKeys.map((key) => key.reveal().trim()), ...(keyFile === undefined ? [] : [keyFile])])
  const root = `https://${hostOf(place)}/v1`
  const baseUrlIn = (name: string): string => `${root}/projects/${name}/locations/${place}`
  const baseUrl = project === undefined ? root : baseUrlIn(project)
  // A key file may come after the start. Without its project, what is signed with it would be asked of an address where nothing is.
  const inProject = (url: string, name: string | undefined): string =>
    project === undefined && name !== undefined && PROJECT.test(name) && url.startsWith(`${root}/`) && !url.startsWith(`${root}/projects/`)
      ? baseUrlIn(name) + url.slice(root.length)
      : url
  return { baseUrl, sign: createSign(new Set(apiKeys), keyFile, inProject) }
}

/**
 * Models of Google and of other vendors on its cloud platform. A credential is an access token, the path or content of a key file, or an API key
 * (express mode, without project).
 */
export const googleVertex: Provider = {
  slug: 'google-vertex',
  name: 'Google',
  env: {
    apiKey: ['GOOGLE_VERTEX_ACCESS_TOKEN', 'GOOGLE_VERTEX_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
    settings: { project: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT'], location: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'] },
  },
  credentialSetting: 'credentials',
  dialect: 'gemini',
  embeddings: 'vertex-predict',
  embeddingsFor: [[/^gemini-(?!embedding-001$)/, 'vertex-embed-content']],
  options: {
    path: '/publishers/google/models',
    service_tier_header: 'x-vertex-ai-llm-shared-request-type',
    tier_factors: GEMINI_TIER_FACTORS,
    // "Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.", and the same error for the other.
    call_ids: false,
    tool_invocations: false,
    pass_through: ['safetySettings'],
  },
  // Names with a publisher belong to open models; tuned models are under `endpoints/`.
  dialectFor: (model) => {
    if (model.startsWith('claude')) return 'anthropic-messages'
    return model.endsWith('-maas') || (model.includes('/') && !/^(?:endpoints|models)\//.test(model)) ? 'openai-chat' : undefined
  },
  dialectOptions: {
    'openai-chat': { path: '/endpoints/openapi/chat/completions' },
    'vertex-predict': { one_by_one: ['gemini-embedding-001'] },
    'anthropic-messages': {
      ...CLAUDE_OPTIONS,
      path: '/publishers/anthropic/models/{model}:rawPredict',
      stream_path: '/publishers/anthropic/models/{model}:streamRawPredict',
      version: 'vertex-2023-10-16',
      version_in: 'body',
      model_in_body: false,
      image_urls: false,
      document_urls: false,
      // These are off in every organisation that has not allowed them (`vertexai.allowedPartnerModelFeatures`), and then refused as unknown fields.
      json_schema: 'tool',
      strict_tools: false,
    },
  },
  settings,
  priceProvider: 'google',
  // Older Claude models have dated ids here that the price data do not know, so the operator names them.
  models: { author: 'google', exclude: /^claude-(?:3|4|sonnet-4-5)|-tts|-live|gemini-1\.|^gemini-(flash|pro)-1\.5|^gemini-pro$|^gemma/ },
  homepage: 'https://cloud.google.com/vertex-ai',
  statusPage: 'https://status.cloud.google.com',
  privacyPolicy: 'https://cloud.google.com/terms/cloud-privacy-notice',
  termsOfService: 'https://cloud.google.com/terms',
  connect,
}
