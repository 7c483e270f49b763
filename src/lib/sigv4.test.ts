import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodePath, signAws, type UnsignedAwsRequest } from './sigv4.ts'

/** Credentials and moment of the vendor's published test suite. */
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const SCOPE = { service: 'service', region: 'us-east-1' }
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0)

const request = (url: string, more: Partial<UnsignedAwsRequest> = {}): UnsignedAwsRequest => ({
  method: 'POST',
  url,
  headers: {},
  body: '',
  ...more,
})

describe('a signature', () => {
  it('gives the signatures of the published test suite', () => {
    const vanilla = signAws(request('https://example.amazonaws.com/'), KEYS, SCOPE, NOW)
    expect(vanilla.headers).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    })
    const form = signAws(
      request('https://example.amazonaws.com/', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'Param1=value1' }),
      KEYS,
      SCOPE,
      NOW,
    )
    expect(form.headers['authorization']).toContain(
      'SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    )
  })

  it('agrees with another implementation, whatever the model is called', async () => {
    const model = fc.oneof(
      fc.constantFrom('us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'arn:aws:bedrock:eu-west-1:1:inference-profile/a b', "x!'()*~"),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed() && !/^\.+$/.test(text)),
    )
    await fc.assert(
      fc.asyncProperty(
        model,
        fc.string(),
        fc.option(fc.stringMatching(/^[a-zA-Z0-9/+=]{10,30}$/), { nil: undefined }),
        async (id, body, sessionToken) => {
          const url = `https://bedrock-runtime.eu-west-1.amazonaws.com/model/${encodeURIComponent(id)}/converse-stream`
          const keys = { ...KEYS, ...(sessionToken === undefined ? {} : { sessionToken }) }
          const headers = {
            'content-type': 'application/json',
            accept: 'application/vnd.amazon.eventstream',
            'user-agent': 'x',
            'x-extra': ' a   b ',
          }
          const scope = { service: 'bedrock', region: 'eu-west-1' }
          const ours = signAws(request(url, { headers, body }), keys, scope, NOW)
          const theirs = new AwsV4Signer({
            method: 'POST',
            url,
            headers: { 'content-type': 'application/json', 'x-extra': 'a b' },
            body,
            ...keys,
            ...scope,
            datetime: '20150830T123600Z',
            allHeaders: true,
          })
          expect(ours.headers['authorization']).toBe(await theirs.authHeader())
        },
      ),
      { numRuns: 60 },
    )
  })

  it('does not change its input', () => {
    const given = Object.freeze(request('https://example.amazonaws.com/', { headers: Object.freeze({ a: 'b' }) }))
    expect(signAws(given, KEYS, SCOPE, NOW)).toMatchObject({ url: given.url, body: '', headers: { a: 'b' } })
  })
})

/** The credentials and the date of the examples in AWS's own documentation. */
const S3_KEYS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const S3_NOW = Date.UTC(2013, 4, 24)

describe('a signature for S3', () => {
  it('agrees with the published example of a PUT', () => {
    const request = signAws(
      {
        method: 'PUT',
        url: `https://examplebucket.s3.amazonaws.com/${encodePath('test$file.text')}`,
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        body: 'Welcome to Amazon S3.',
      },
      S3_KEYS,
      { service: 's3', region: 'us-east-1', storage: true },
      S3_NOW,
    )
    expect(request.url).toBe('https://examplebucket.s3.amazonaws.com/test%24file.text')
    expect(request.headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    )
  })

  it('agrees with the published example of a query', () => {
    const request = signAws(
      { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J', headers: {} },
      S3_KEYS,
      { service: 's3', region: 'us-east-1', storage: true },
      S3_NOW,
    )
    expect(request.headers['authorization']).toMatch(/Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/)
  })

  it('agrees with an independent signer on any key, body and header', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 4 }),
        fc.string({ unit: 'grapheme' }),
        fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{1,40}$/), { nil: undefined }),
        fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/),
        async (parts, body, sessionToken, value) => {
          const key = parts
            .map((part) => part.toWellFormed().replace(/[/\\\p{Cc}]/gu, '_'))
            .map((part) => (/^\.+$/.test(part) ? '_' : part))
            .join('/')
          const url = `https://bucket.s3.eu-west-1.amazonaws.com/${encodePath(key)}`
          const headers = { 'content-type': 'application/json', 'x-amz-meta-note': value }
          const ours = signAws(
            { method: 'PUT', url, headers, body },
            { ...S3_KEYS, sessionToken },
            { service: 's3', region: 'eu-west-1', storage: true },
            S3_NOW,
          )
          const theirs = await new AwsV4Signer({
            method: 'PUT',
            url,
            headers: { ...headers, 'x-amz-content-sha256': ours.headers['x-amz-content-sha256'] ?? '' },
            body,
            ...S3_KEYS,
            ...(sessionToken === undefined ? {} : { sessionToken }),
            service: 's3',
            region: 'eu-west-1',
            datetime: '20130524T000000Z',
          }).sign()
          expect(ours.headers['authorization']).toBe(theirs.headers.get('authorization'))
        },
      ),
      { numRuns: 200 },
    )
  })
})
