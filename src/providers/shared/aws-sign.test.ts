import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SignableRequest } from '../../core/provider.ts'
import { signAws } from './aws-sign.ts'

/** Credentials and moment of the vendor's published test suite. */
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const SCOPE = { service: 'service', region: 'us-east-1' }
const NOW = Date.UTC(2015, 7, 30, 12, 36, 0)

const request = (url: string, more: Partial<SignableRequest> = {}): SignableRequest => ({
  method: 'POST',
  url,
  path: new URL(url).pathname,
  headers: {},
  body: '',
  ...more,
})

describe('signAws', () => {
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

  it('leaves what it was given alone', () => {
    const given = Object.freeze(request('https://example.amazonaws.com/', { headers: Object.freeze({ a: 'b' }) }))
    expect(signAws(given, KEYS, SCOPE, NOW)).toMatchObject({ url: given.url, body: '', headers: { a: 'b' } })
  })
})
