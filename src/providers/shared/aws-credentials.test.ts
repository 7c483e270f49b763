import { describe, expect, it } from 'vitest'
import type { SignableRequest } from '../../core/provider.ts'
import { Secret } from '../../lib/secret.ts'
import { awsKeysOf, signForAws } from './aws-credentials.ts'

const ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const request: SignableRequest = {
  method: 'POST',
  url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/a%3A0/converse',
  path: '/model/a%3A0/converse',
  headers: { 'content-type': 'application/json' },
  body: '{}',
}

const sign = (text: string, account: Parameters<typeof signForAws>[1] = {}) =>
  signForAws({ service: 'bedrock', region: 'eu-west-1' }, account)(
    request,
    { id: '0', secret: new Secret(text) },
    new AbortController().signal,
  ) as SignableRequest

describe('credentials of the cloud', () => {
  it('are distinguished by their form', () => {
    expect(awsKeysOf('ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl', {})).toBeUndefined()
    expect(awsKeysOf(`bedrock-api-key-${'A'.repeat(24)}`, { access_key_id: ID })).toBeUndefined()
    expect(awsKeysOf(SECRET, { access_key_id: ID })).toEqual({ accessKeyId: ID, secretAccessKey: SECRET })
    expect(awsKeysOf(`${ID}:${SECRET}`, {})).toEqual({ accessKeyId: ID, secretAccessKey: SECRET })
    expect(awsKeysOf(`ASIAIOSFODNN7EXAMPLE:${SECRET}:a:b`, { access_key_id: ID })).toEqual({
      accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
      secretAccessKey: SECRET,
      sessionToken: 'a:b',
    })
  })
  it('say what is missing', () => {
    expect(() => sign(SECRET)).toThrow(
      expect.objectContaining({ errorType: 'authentication', message: expect.stringContaining('AWS_ACCESS_KEY_ID') }),
    )
  })
  it('are bearer tokens or signatures', () => {
    expect(sign('ABSKkey').headers['authorization']).toBe('Bearer ABSKkey')
    const signed = sign(SECRET, { access_key_id: ID, session_token: 'T' }).headers
    expect(signed['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    )
    expect(signed['x-amz-security-token']).toBe('T')
    expect(JSON.stringify(signed)).not.toContain(SECRET)
  })
})
