import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodePath, signAws } from './sigv4.ts'

/** The credentials and the date of the examples in AWS's own documentation. */
const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const now = Date.UTC(2013, 4, 24)

describe('signAws', () => {
  it('agrees with the published example of a PUT', () => {
    const request = signAws(
      {
        method: 'PUT',
        url: `https://examplebucket.s3.amazonaws.com/${encodePath('test$file.text')}`,
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        body: 'Welcome to Amazon S3.',
      },
      credentials,
      { service: 's3', region: 'us-east-1' },
      now,
    )
    expect(request.url).toBe('https://examplebucket.s3.amazonaws.com/test%24file.text')
    expect(request.headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    )
  })

  it('agrees with the published example of a query', () => {
    const request = signAws(
      { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J', headers: {} },
      credentials,
      { service: 's3', region: 'us-east-1' },
      now,
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
          const ours = signAws({ method: 'PUT', url, headers, body }, { ...credentials, sessionToken }, { service: 's3', region: 'eu-west-1' }, now)
          const theirs = await new AwsV4Signer({
            method: 'PUT',
            url,
            headers: { ...headers, 'x-amz-content-sha256': ours.headers['x-amz-content-sha256'] ?? '' },
            body,
            ...credentials,
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
