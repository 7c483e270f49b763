import type { EncodedRequest, Target } from '../../src/core/dialect.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { SignableRequest } from '../../src/core/provider.ts'
import type { ModelRequest } from '../../src/core/request.ts'
import { createHttpClient } from '../../src/lib/http-client.ts'
import { exchangeInProcess } from '../../src/pipeline/in-process-exchange.ts'
import { VERSION } from '../../src/version.ts'

const MAX_BYTES = 64 * 1024 * 1024

/** One request to a vendor and its answer, as on the wire. */
export interface RecordedExchange {
  readonly target: Target
  readonly request: SignableRequest
  readonly status: number
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly body: Buffer
}

export function targetFor(endpoint: Endpoint, stream: boolean): Target {
  const { connection } = endpoint
  return {
    provider: endpoint.provider,
    providerName: endpoint.providerName,
    upstreamModel: endpoint.upstreamModel,
    options: connection.options,
    supports: endpoint.supports,
    contextLength: endpoint.contextLength,
    ...(endpoint.maxOutputTokens === undefined ? {} : { maxOutputTokens: endpoint.maxOutputTokens }),
    scope: connection.scope,
    stream,
  }
}

/** Encodes and signs a request like any call of the gateway, sends it once, and keeps every byte of the answer. */
export async function exchange(endpoint: Endpoint, request: ModelRequest, stream: boolean, limitMs: number): Promise<RecordedExchange> {
  const { connection } = endpoint
  const { dialect } = connection
  const target = targetFor(endpoint, stream)
  const remote = dialect.mediaUrls?.(request, target) ?? []
  if (remote.length > 0) throw new Error(`${endpoint.tag} needs the bytes of ${remote[0]}: give media as data URLs`)
  const plain = toRequest(endpoint, dialect.encodeRequest(request, target))
  const signal = AbortSignal.timeout(limitMs)
  const signed = await sign(endpoint, plain, signal)
  const http = createHttpClient()
  const sent =
    connection.transport === undefined
      ? http.send({ url: signed.url, method: 'POST', headers: signed.headers, body: signed.body, connectTimeoutMs: connection.timeouts.connect })
      : exchangeInProcess(connection.transport, signed)
  const cancel = (): void => sent.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const { status, headers } = await sent.head
    const chunks: Buffer[] = []
    let size = 0
    for (let read = await sent.read(); read !== undefined; read = await sent.read()) {
      chunks.push(...read)
      size += read.reduce((sum, { length }) => sum + length, 0)
      if (size > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`)
    }
    // The unsigned request, so that the recording never contains the credential.
    return { target, request: plain, status, headers, body: Buffer.concat(chunks) }
  } catch (error) {
    throw signal.aborted ? new Error(`no complete answer within ${limitMs / 1000} s`, { cause: error }) : error
  } finally {
    signal.removeEventListener('abort', cancel)
    if (!sent.ended) sent.cancel()
    await http.close()
  }
}

function toRequest({ connection }: Endpoint, encoded: EncodedRequest): SignableRequest {
  return {
    method: 'POST',
    path: encoded.path,
    url: connection.baseUrl + encoded.path,
    headers: {
      accept: 'text/event-stream, application/json',
      'user-agent': `signalbox/${VERSION}`,
      ...encoded.headers,
      ...connection.headers,
    },
    body: encoded.body,
  }
}

function sign({ connection }: Endpoint, request: SignableRequest, signal: AbortSignal): SignableRequest | Promise<SignableRequest> {
  const credential = connection.credentials[0]
  if (connection.sign !== undefined) return connection.sign(request, credential, signal)
  if (credential === undefined) return request
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${credential.secret.reveal()}` } }
}
