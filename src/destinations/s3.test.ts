import { describe, expect, it } from 'vitest'
import type { DestinationContext, OutgoingResponse } from '../core/destination.ts'
import type { Generation } from '../core/generation.ts'
import { toDeliveryRecord } from '../delivery/record.ts'
import { testDestination } from '../testing/destination-contract.ts'
import { fullGeneration, minimalGeneration } from '../testing/sample-generations.ts'
import { objectKey, s3 } from './s3.ts'

const config = { bucketName: 'my-bucket', accessKeyId: 'AKIASECRETACCESS1', secretAccessKey: 'secret-access-key-value-1' }
const error = (code: string): string => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`

testDestination(s3, {
  config: {
    ...config,
    region: 'eu-west-1',
    sessionToken: 'secret-session-token-1',
    prefix: 'logs/ai',
    pathTemplate: '{prefix}/{year}/{month}/{day}/{apiKeyName}',
  },
  required: ['bucketName', 'accessKeyId', 'secretAccessKey'],
  defaults: { prefix: 'gateway-traces', pathTemplate: '{prefix}/{date}' },
  invalid: [{ bucketName: 'a/b' }, { bucketName: '../x' }, { pathTemplate: '{prefix}/{nothing}' }, { endpoint: 'minio:9000' }, { region: 'eu/../x' }],
  classification: [
    [403, error('SignatureDoesNotMatch'), 'unauthorized'],
    [403, error('AccessDenied'), 'unauthorized'],
    [403, error('RequestTimeTooSkewed'), 'retry'],
    [404, error('NoSuchBucket'), 'unauthorized'],
    [400, error('ExpiredToken'), 'unauthorized'],
    [400, error('AuthorizationHeaderMalformed'), 'unauthorized'],
    [400, error('RequestTimeout'), 'retry'],
    [400, error('EntityTooLarge'), 'split'],
    [400, error('MalformedXML'), 'reject'],
    [400, error('KMS.DisabledException'), 'unauthorized'],
    [400, error('KMS.NotFoundException'), 'unauthorized'],
    [400, error('KMS.ThrottlingException'), 'retry'],
    [500, error('KMS.KMSInternalException'), 'retry'],
    [503, error('KMS.DependencyTimeoutException'), 'retry'],
    [400, error('InvalidStorageClass'), 'unauthorized'],
    [400, error('XMinioAdminBucketQuotaExceeded'), 'unauthorized'],
    [409, error('OperationAborted'), 'retry'],
    [500, error('InternalError'), 'retry'],
    [503, error('SlowDown'), 'retry'],
    [301, error('PermanentRedirect'), 'unauthorized', { 'x-amz-bucket-region': 'eu-west-1' }],
  ],
  inspect: (requests) => {
    expect(requests).toHaveLength(1)
    const [request] = requests
    expect(request?.headers['authorization']).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,')
    expect(request?.records).toEqual([0])
  },
})

const NONE = { privacyMode: false, broadcast: { cost: false, identity: false, requestContext: false } }
const context: DestinationContext = { destinationId: 'dest-1', serviceName: 's', serviceVersion: '1', now: Date.UTC(2026, 0, 15), attempt: 0 }

describe('the key of an object', () => {
  const key = (changes: Partial<Generation> = {}, options: object = {}): string => {
    const { generation, content } = minimalGeneration()
    const record = toDeliveryRecord({ ...generation, ...changes }, content, NONE)
    return objectKey(record, s3.settings.parse({ ...config, ...options }))
  }

  it('is named by trace and second of the start, so that a repeat overwrites it', () => {
    expect(key()).toBe('gateway-traces/2026-01-15/gen-1768473001-ZZZZZZZZZZZZZZZZZZZZ-1768473000.json')
  })

  it('keeps generations of one trace apart', () => {
    const trace = { trace_id: 'order-1' }
    expect(key({ trace, id: 'gen-a' })).toBe('gateway-traces/2026-01-15/order-1-1768473000-gen-a.json')
    expect(key({ trace, id: 'gen-b' })).toBe('gateway-traces/2026-01-15/order-1-1768473000-gen-b.json')
  })

  it.each([
    [{ prefix: '/a//b/' }, {}, /^a\/b\/2026-01-15\//],
    [{ prefix: '../..' }, {}, /^_\/_\/2026-01-15\//],
    [{ prefix: '' }, {}, /^2026-01-15\//],
    [{ pathTemplate: '{year}/{month}/{day}' }, {}, /^2026\/01\/15\/gen/],
    [{ pathTemplate: 'k/{apiKeyName}' }, { keyName: '../../etc/pass\nwd' }, /^k\/\.\._\.\._etc_pass_wd\/gen/],
    [{ pathTemplate: 'k/{apiKeyName}' }, { keyName: '..' }, /^k\/_\/gen/],
    [{ pathTemplate: '{apiKeyName}' }, { keyName: '' }, /^gen/],
    [{}, { trace: { trace_id: 'a/../../b' } }, /^gateway-traces\/2026-01-15\/a_\.\._\.\._b-/],
  ])('cannot leave its folder: %j %j', (options, changes, expected) => expect(key(changes, options)).toMatch(expected))

  it.each(['a', 'ж', '漢', '\u{1f600}'])('is no longer than stores take, part by part, and keeps whole characters: %s', (character) => {
    const long = character.repeat(1_000)
    const found = key(
      { trace: { trace_id: long }, keyName: long, id: 'gen-1768473001-ZZZZZZZZZZZZZZZZZZZZ' },
      { pathTemplate: '{prefix}/{apiKeyName}/{date}' },
    )
    expect(found.endsWith('-1768473000-gen-1768473001-ZZZZZZZZZZZZZZZZZZZZ.json')).toBe(true)
    expect(found).not.toContain('\ufffd')
    expect(Buffer.byteLength(found)).toBeLessThanOrEqual(1_024)
    for (const part of found.split('/')) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255)
  })

  it('is percent-encoded once', async () => {
    const { generation, content } = minimalGeneration()
    const record = toDeliveryRecord({ ...generation, trace: { trace_id: 'a b+c%é漢*' } }, content, NONE)
    const [request] = await s3.encode([record], s3.settings.parse({ ...config, region: 'us-east-1' }), context)
    expect(request?.url).toContain('/a%20b%2Bc%25%C3%A9%E6%BC%A2%2A-1768473000-')
  })
})

describe('the region of a bucket', () => {
  const url = (options: object, prepared?: unknown): string =>
    s3.probe(s3.settings.parse({ ...config, ...options }), prepared === undefined ? context : { ...context, prepared })[0]?.request.url ?? ''
  const scope = (options: object, prepared?: unknown): string =>
    /Credential=[^/]+\/\d+\/([^/]+)\//.exec(
      s3.probe(s3.settings.parse({ ...config, ...options }), prepared === undefined ? context : { ...context, prepared })[0]?.request.headers[
        'authorization'
      ] ?? '',
    )?.[1] ?? ''

  it.each([
    [{ region: 'eu-west-1' }, 'https://my-bucket.s3.eu-west-1.amazonaws.com/', 'eu-west-1'],
    [{ region: 'eu-west-1', bucketName: 'my.bucket' }, 'https://s3.eu-west-1.amazonaws.com/my.bucket/', 'eu-west-1'],
    [{}, 'https://my-bucket.s3.us-east-1.amazonaws.com/', 'us-east-1'],
    [{ endpoint: 'https://acc.r2.cloudflarestorage.com' }, 'https://acc.r2.cloudflarestorage.com/my-bucket/', 'auto'],
    [{ endpoint: 'https://s3.us-west-002.backblazeb2.com/' }, 'https://s3.us-west-002.backblazeb2.com/my-bucket/', 'us-west-002'],
    [{ endpoint: 'http://127.0.0.1:9000' }, 'http://127.0.0.1:9000/my-bucket/', 'us-east-1'],
  ])('for %j is %s in %s', (options, expected, region) => {
    expect(url(options)).toBe(`${expected}gateway-traces/connection-test/dest-1.json`)
    expect(scope(options)).toBe(region)
  })

  it('is asked for when the region is not given', async () => {
    const asked: string[] = []
    const find = async (options: object, headers: OutgoingResponse['headers']): Promise<unknown> =>
      s3.prepare?.(s3.settings.parse({ ...config, ...options }), context, async (request) => {
        asked.push(`${request.method} ${request.url} ${Object.keys(request.headers).length}`)
        return { status: 403, headers, body: Buffer.alloc(0) }
      })
    expect(await find({}, { 'x-amz-bucket-region': 'ap-south-1' })).toBe('ap-south-1')
    expect(await find({ region: 'eu-west-1' }, {})).toBe('eu-west-1')
    expect(await find({ endpoint: 'http://127.0.0.1:9000' }, { 'x-amz-bucket-region': '../evil' })).toBeUndefined()
    expect(asked).toEqual(['HEAD https://s3.amazonaws.com/my-bucket 0', 'HEAD http://127.0.0.1:9000/my-bucket 0'])
    expect(url({}, 'ap-south-1')).toContain('my-bucket.s3.ap-south-1.amazonaws.com')
  })
})

it('the object of a connection test stays in its folder, too', () => {
  const [step] = s3.probe(s3.settings.parse({ ...config, region: 'eu-west-1', prefix: '../a/./..' }), context)
  expect(step?.request.url).toBe('https://my-bucket.s3.eu-west-1.amazonaws.com/a/connection-test/dest-1.json')
})

it('a busy store does not count as an outage', () => {
  const busy = { status: 503, headers: {}, body: Buffer.from(error('SlowDown')) }
  expect(s3.classify?.(busy, { method: 'PUT', url: 'https://x.example/', headers: {} })).toMatchObject({ kind: 'retry', overload: true })
})

describe('headers of the owner', () => {
  it('are signed when they are AWS’s', async () => {
    const { generation, content } = fullGeneration()
    const settings = s3.settings.parse({
      ...config,
      region: 'us-east-1',
      headers: {
        'X-Amz-Storage-Class': 'STANDARD_IA',
        'x-amz-date': '19700101T000000Z',
        'X-Amz-Security-Token': 'of somebody else',
        'x-other': '1',
      },
    })
    const [request] = await s3.encode([toDeliveryRecord(generation, content, NONE)], settings, context)
    expect(request?.headers).toMatchObject({ 'x-amz-storage-class': 'STANDARD_IA', 'x-amz-date': '20260115T000000Z', 'x-other': '1' })
    expect(request?.headers['authorization']).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,')
  })
})

it('a store that rejects our clock reports its own time', () => {
  const request = { method: 'PUT', url: 'https://x.example/', headers: {} } as const
  const skewed = (headers: OutgoingResponse['headers']) =>
    s3.classify?.({ status: 403, headers, body: Buffer.from(error('RequestTimeTooSkewed')) }, request)
  const date = 'Thu, 15 Jan 2026 10:31:00 GMT'
  expect(skewed({ date })).toMatchObject({ kind: 'retry', platformTime: Date.UTC(2026, 0, 15, 10, 31) })
  expect(skewed({})).not.toHaveProperty('platformTime')
  expect(skewed({ date: 'yesterday' })).not.toHaveProperty('platformTime')
})
