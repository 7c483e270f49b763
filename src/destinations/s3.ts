import { z } from 'zod'
import type { DeliveryRecord } from '../core/delivery.ts'
import type {
  DeliveryOutcome,
  Destination,
  DestinationContext,
  OutgoingRequest,
  OutgoingResponse,
  ProbeStep,
  SendRequest,
} from '../core/destination.ts'
import { classifyHttp, excerpt } from '../core/outcome.ts'
import { unixSeconds } from '../lib/derived-id.ts'
import { encodePath, signAws } from '../lib/sigv4.ts'
import { completionObject, hasCost, hasUsage, modelSlug, promptObject } from './shared/gen-ai-attributes.ts'
import { isoTime, metadataObject, modelParameters } from './shared/record-metadata.ts'
import {
  destinationSettings,
  headerSecret,
  headerText,
  HEADER_SECRETS,
  httpUrl,
  joinUrl,
  lineText,
  mergeHeaders,
  requiredText,
} from './shared/settings.ts'
import { traceSteps, type TraceStep } from './shared/trace-steps.ts'

const VARIABLES = ['prefix', 'date', 'year', 'month', 'day', 'apiKeyName'] as const
/**
 * Limit for one segment of a key: file systems behind a store allow 255 characters per name, including what the gateway adds; S3 allows 1,024 for the
 * whole key.
 */
const MAX_PART_BYTES = 200

const settings = destinationSettings({
  bucketName: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'is no bucket name')
    .describe('Bucket that receives one object per generation.'),
  accessKeyId: headerSecret('Access key with s3:PutObject on the bucket, and s3:DeleteObject for the connection test.'),
  secretAccessKey: requiredText('Secret of the access key.'),
  sessionToken: headerText().optional().describe('Token of temporary credentials.'),
  endpoint: httpUrl('Address of another S3-compatible store. Without it: AWS.').optional(),
  region: z
    .string()
    .regex(/^[A-Za-z0-9-]*$/, 'is no region')
    .optional()
    .describe('Region of the bucket. Without it, the store is asked.'),
  prefix: lineText().max(500).default('gateway-traces').describe('Value of `{prefix}`.'),
  pathTemplate: lineText()
    .max(500)
    .refine(
      (template) => [...template.matchAll(/\{([^{}]*)\}/g)].every(([, name]) => VARIABLES.some((known) => known === name)),
      `may hold the variables ${VARIABLES.map((name) => `{${name}}`).join(', ')}`,
    )
    .default('{prefix}/{date}')
    .describe('Folder of an object. Variables, in UTC: `{prefix}`, `{date}`, `{year}`, `{month}`, `{day}`, `{apiKeyName}`.'),
})
type S3Settings = z.output<typeof settings>

/** S3 and compatible stores: one JSON object per generation, named by its trace and second, so that a repeat overwrites its own object. */
export const s3: Destination<S3Settings> = {
  type: 's3',
  name: 'S3',
  settings,
  secrets: ['accessKeyId', 'secretAccessKey', 'sessionToken', HEADER_SECRETS],
  limits: { records: 50, bytes: 20_000_000 },
  encode: (batch, options, context) =>
    batch.map((record, index) => ({
      ...signed(options, context, { method: 'PUT', key: objectKey(record, options), body: JSON.stringify(toObject(record)) }),
      records: [index],
    })),
  classify,
  prepare: findRegion,
  probe: testSteps,
}

// ---- where ----

/** Virtual-hosted style on AWS, unless dots in the bucket's name would not match the certificate; path style elsewhere. */
function bucketUrl({ bucketName, endpoint }: S3Settings, region: string): string {
  if (endpoint !== undefined) return joinUrl(endpoint, bucketName)
  const host = `s3.${region}.amazonaws.com`
  return bucketName.includes('.') ? `https://${host}/${bucketName}` : `https://${bucketName}.${host}`
}

/** The folder according to the template, then `<trace>-<second>.json`. Generations that share the caller's trace have their own id appended. */
export function objectKey(record: DeliveryRecord, { pathTemplate, prefix }: Pick<S3Settings, 'pathTemplate' | 'prefix'>): string {
  const { generation, ids } = record
  const [date = ''] = isoTime(generation.startedAt).split('T')
  const [year = '', month = '', day = ''] = date.split('-')
  const values: { readonly [name: string]: string } = { prefix, date, year, month, day, apiKeyName: toPart(generation.keyName) }
  const folder = pathTemplate.replace(/\{([^{}]*)\}/g, (_all, name: string) => values[name] ?? '')
  const own = ids.trace === ids.generation ? '' : `-${toPart(ids.generation)}`
  const path = `${folder}/${toPart(ids.trace)}-${unixSeconds(generation.startedAt)}${own}.json`
  return path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (part === '.' || part === '..' ? '_' : part))
    .join('/')
}

/** The caller's text as one path segment of complete characters. */
function toPart(text: string): string {
  const bytes = Buffer.from(text.slice(0, MAX_PART_BYTES).replace(/[\p{Cc}/\\]/gu, '_'))
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, MAX_PART_BYTES), { stream: true })
}

const RESERVED_HEADERS = new Set(['x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'])

/** AWS's own headers (storage class, encryption) must be signed; it does not know the others. */
function signed(
  options: S3Settings,
  context: DestinationContext,
  { method, key, body }: { readonly method: 'PUT' | 'DELETE'; readonly key: string; readonly body?: string },
): OutgoingRequest {
  const region = regionOf(options, context)
  const custom = Object.entries(options.headers ?? {}).map(([name, value]): [string, string] => [name.toLowerCase(), value.trim()])
  const amazon = custom.filter(([name]) => name.startsWith('x-amz-') && !RESERVED_HEADERS.has(name))
  const request = signAws(
    {
      method,
      url: `${bucketUrl(options, region)}/${encodePath(key)}`,
      headers: { ...Object.fromEntries(amazon), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    },
    options,
    { service: 's3', region, storage: true },
    context.now,
  )
  return { ...request, headers: mergeHeaders(Object.fromEntries(custom), request.headers) }
}

/** Writes a small object and deletes it again. */
function testSteps(options: S3Settings, context: DestinationContext): readonly ProbeStep[] {
  const key = [...options.prefix.split('/'), 'connection-test', `${context.destinationId}.json`]
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .join('/')
  return [
    { name: 'write an object', request: signed(options, context, { method: 'PUT', key, body: '{"test":true}' }) },
    { name: 'delete it again', request: signed(options, context, { method: 'DELETE', key }) },
  ]
}

// ---- region ----

const DEFAULT_REGION = 'us-east-1'

function regionOf({ region, endpoint }: S3Settings, { prepared }: DestinationContext): string {
  if (region) return region
  if (typeof prepared === 'string') return prepared
  return endpoint === undefined ? DEFAULT_REGION : (regionInHost(endpoint) ?? DEFAULT_REGION)
}

/** Stores that name the region in their host; one of them has a single region called `auto`. */
function regionInHost(endpoint: string): string | undefined {
  const { hostname } = new URL(endpoint)
  if (hostname.endsWith('.r2.cloudflarestorage.com')) return 'auto'
  return /^(?:s3|storage|objects)[.-]([a-z]{2,}-[a-z0-9-]+)\./.exec(hostname)?.[1]
}

/** An unsigned request: every answer names the region, even a refusal. */
async function findRegion(options: S3Settings, _context: DestinationContext, send: SendRequest): Promise<string | undefined> {
  if (options.region) return options.region
  const known = options.endpoint === undefined ? undefined : regionInHost(options.endpoint)
  if (known !== undefined) return known
  const url = options.endpoint === undefined ? `https://s3.amazonaws.com/${options.bucketName}` : bucketUrl(options, DEFAULT_REGION)
  const { headers } = await send({ method: 'HEAD', url, headers: {} })
  const region = headers['x-amz-bucket-region']
  return region !== undefined && /^[a-z0-9-]{2,40}$/.test(region) ? region : undefined
}

// ---- what ----

/** A trace as one document; its spans are observations. */
function toObject(record: DeliveryRecord): object {
  const { generation, ids, names } = record
  return {
    id: ids.trace,
    name: names.trace,
    timestamp: isoTime(generation.startedAt),
    userId: generation.externalUser,
    sessionId: generation.sessionId,
    environment: record.environment,
    release: record.release,
    tags: record.tags,
    metadata: metadataObject(record),
    input: promptObject(record),
    output: completionObject(record),
    observations: traceSteps(record).map((step) => toObservation(record, step)),
  }
}

function toObservation(record: DeliveryRecord, step: TraceStep): object {
  return {
    id: step.id,
    type: step.kind === 'generation' ? 'GENERATION' : step.kind === 'tool' ? 'TOOL' : 'SPAN',
    name: step.name,
    parentObservationId: step.parentId,
    startTime: isoTime(step.startedAt),
    endTime: isoTime(step.endedAt),
    level: step.error === undefined ? 'DEFAULT' : 'ERROR',
    statusMessage: step.error?.message,
    ...(step.child === undefined ? {} : { input: step.child.input, output: step.child.output, metadata: step.child.attributes }),
    ...(step.kind === 'generation' ? generationFields(record) : {}),
  }
}

function generationFields(record: DeliveryRecord): object {
  const { generation } = record
  const { usage, cost } = generation
  return {
    model: modelSlug(record),
    provider: generation.provider,
    modelParameters: modelParameters(record),
    completionStartTime: generation.firstTokenMs === undefined ? undefined : isoTime(generation.startedAt + generation.firstTokenMs),
    finishReason: generation.finishReason,
    input: promptObject(record),
    output: completionObject(record),
    usage: hasUsage(record)
      ? {
          input: usage.inputTokens,
          output: usage.outputTokens,
          total: usage.totalTokens,
          cachedInput: usage.cachedTokens,
          cacheWriteInput: usage.cacheWriteTokens,
          reasoningOutput: usage.reasoningTokens,
        }
      : undefined,
    ...(hasCost(record) ? { inputCost: cost.input, outputCost: cost.output, totalCost: cost.total } : {}),
    metadata: metadataObject(record),
  }
}

// ---- answers ----

/** The account, the bucket, its quota, or a header of the owner's: the same for every object until somebody changes it. */
const CONFIGURATION_CODES = new Set([
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'IllegalLocationConstraintException',
  'InvalidAccessKeyId',
  'InvalidBucketName',
  'InvalidEncryptionAlgorithmError',
  'InvalidStorageClass',
  'InvalidToken',
  'NoSuchBucket',
  'TokenRefreshRequired',
  'XMinioAdminBucketQuotaExceeded',
])
/** The key with which the bucket encrypts is disabled, about to be deleted, or does not exist. */
const ENCRYPTION_CODE = /^KMS\./
/** The key is in order, but was asked for too often. */
const ENCRYPTION_OVERLOAD = 'KMS.ThrottlingException'
const BUSY_CODES = new Set(['OperationAborted', 'RequestTimeout'])

function classify(response: OutgoingResponse): DeliveryOutcome {
  const { status, headers } = response
  if (status < 300) return classifyHttp(response)
  const code = /<Code>([A-Za-z.]{1,60})<\/Code>/.exec(response.body.toString('utf8', 0, 4_096))?.[1] ?? ''
  const message = `HTTP ${status} ${code}: ${excerpt(response.body)}`
  if (code === 'RequestTimeTooSkewed') {
    const platformTime = Date.parse(headers['date'] ?? '')
    const explanation = `the clock of this machine is wrong; the store's says ${headers['date'] ?? 'otherwise'}`
    return { kind: 'retry', message: explanation, ...(Number.isNaN(platformTime) ? {} : { platformTime }) }
  }
  if (BUSY_CODES.has(code)) return { kind: 'retry', message }
  if (code === 'SlowDown' || code === ENCRYPTION_OVERLOAD) return { kind: 'retry', message, overload: true }
  if (code === 'EntityTooLarge') return { kind: 'split', message }
  // From 500 on, the service that has the key is in trouble.
  if (CONFIGURATION_CODES.has(code) || (status < 500 && ENCRYPTION_CODE.test(code))) return { kind: 'unauthorized', message }
  if (status === 301 || status === 307) {
    const region = headers['x-amz-bucket-region']
    if (region !== undefined) return { kind: 'unauthorized', message: `the bucket lies in region ${region.slice(0, 40)}` }
  }
  return classifyHttp(response)
}
