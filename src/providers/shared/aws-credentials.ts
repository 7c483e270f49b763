import { GatewayError } from '../../core/error.ts'
import type { Connection } from '../../core/provider.ts'
import { systemClock } from '../../lib/clock.ts'
import { signAws, type AwsKeys, type AwsScope } from '../../lib/sigv4.ts'

/** Settings that accompany a secret access key. */
export interface AwsAccount {
  readonly access_key_id?: string | undefined
  readonly session_token?: string | undefined
}

const KEY_ID = /^(?:AKIA|ASIA)[A-Z0-9]{12,}$/
const SECRET_KEY = /^[A-Za-z0-9/+=]{40}$/

/**
 * Recognises a credential by its form: `AKIA...:secret[:session token]`, a bare secret access key (with its id and session token in the settings), or
 * an API key, which is sent as it is (undefined). Throws `authentication` for a secret key without its id.
 */
export function awsKeysOf(text: string, account: AwsAccount): AwsKeys | undefined {
  const [id = '', secret, ...session] = text.split(':')
  if (KEY_ID.test(id) && secret !== undefined && secret !== '') {
    return { accessKeyId: id, secretAccessKey: secret, ...(session.length === 0 ? {} : { sessionToken: session.join(':') }) }
  }
  if (!SECRET_KEY.test(text)) return undefined
  const { access_key_id: accessKeyId, session_token: sessionToken } = account
  if (accessKeyId === undefined) {
    throw new GatewayError(
      'authentication',
      'A secret access key needs its id: set AWS_ACCESS_KEY_ID, or write the key as <id>:<secret>, or use an API key of the service',
      {
        credentialDead: true,
      },
    )
  }
  return { accessKeyId, secretAccessKey: text, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** Signs with access keys (signature version 4); sends API keys as bearer tokens. */
export function signForAws(scope: AwsScope, account: AwsAccount): NonNullable<Connection['sign']> {
  return (request, credential) => {
    if (credential === undefined) return request
    const text = credential.secret.reveal().trim()
    const keys = awsKeysOf(text, account)
    if (keys === undefined) return { ...request, headers: { ...request.headers, authorization: `Bearer ${text}` } }
    return signAws(request, keys, scope, systemClock.now())
  }
}
