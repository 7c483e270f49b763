import type { Connection, Credential } from '../core/provider.ts'
import type { HttpClient } from '../lib/http-client.ts'
import { unknownAuthority } from './reason.ts'

export interface ProviderFinding {
  readonly fault: boolean
  readonly text: string
}

export interface ProbeOptions {
  /** Milliseconds, for each question. */
  readonly limitMs: number
  /** Also asks whether each credential is accepted. Otherwise none is sent. */
  readonly keys?: boolean
  /** Whether the operator said where the provider is: only then may its path be wrong. */
  readonly configured?: boolean
}

type Probed = Pick<Connection, 'baseUrl' | 'transport' | 'timeouts' | 'credentials' | 'dialect' | 'sign' | 'headers'>
type Headers = { readonly [name: string]: string }

/** Whether a provider's address answers, and whether it accepts its credentials. Sends no prompt: it asks for the list of models, where the format has one. */
export async function probeProvider(
  http: Pick<HttpClient, 'send'>,
  connection: Probed,
  { limitMs, keys = false, configured = false }: ProbeOptions,
): Promise<readonly ProviderFinding[]> {
  const { baseUrl, transport, credentials, dialect, sign } = connection
  if (transport !== undefined) return [{ fault: false, text: 'built in' }]
  const path = dialect.modelList?.path ?? ''
  const ask = (headers: Headers): Promise<number> => statusOf(http, { url: `${baseUrl}${path}`, headers, connection, limitMs })
  try {
    const statusWithoutKey = await ask({})
    const lost =
      configured && path !== '' && statusWithoutKey === 404 ? `; there is no ${path}, which most servers of this format have: is the path right?` : ''
    const address = {
      fault: false,
      text: `${baseUrl} reachable (HTTP ${statusWithoutKey} without credentials), ${credentials.length} credential(s)${lost}`,
    }
    if (!keys) return [address]
    const signing = credentials.length === 0 && sign !== undefined ? [undefined] : credentials
    return [address, ...(await Promise.all(signing.map((credential) => probeCredential(connection, credential, statusWithoutKey, ask))))]
  } catch (error) {
    return [{ fault: true, text: `${baseUrl} not reachable: ${unknownAuthority(error) ?? (error as Error).message}` }]
  }
}

const isRefusal = (status: number): boolean => status === 401 || status === 403

/** Only the difference to what is answered without credentials says something: some vendors show their models to everybody. */
async function probeCredential(
  connection: Probed,
  credential: Credential | undefined,
  statusWithoutKey: number,
  ask: (headers: Headers) => Promise<number>,
): Promise<ProviderFinding> {
  const name = `credential ${credential?.id ?? 'of its own kind'}`
  if (connection.dialect.modelList === undefined) return { fault: false, text: `${name}: not tested, as this format has no list of models` }
  if (statusWithoutKey < 400) return { fault: false, text: `${name}: not tested, as the list of models is open to everybody` }
  try {
    const status = await ask(await headersFor(connection, credential))
    if (status < 400) return { fault: false, text: `${name}: accepted` }
    // Some answer a wrong key like any other mistake.
    const refused = isRefusal(status) || (status === 400 && isRefusal(statusWithoutKey))
    return { fault: refused, text: refused ? `${name}: refused (HTTP ${status})` : `${name}: not tested, as the list of models is HTTP ${status}` }
  } catch (error) {
    return { fault: true, text: `${name}: ${(error as Error).message}` }
  }
}

async function headersFor({ baseUrl, dialect, headers, sign }: Probed, credential: Credential | undefined): Promise<Headers> {
  const { path, headers: needed } = dialect.modelList!
  const plain = { ...headers, ...needed }
  if (sign === undefined) return credential === undefined ? plain : { ...plain, authorization: `Bearer ${credential.secret.reveal()}` }
  const url = `${baseUrl}${path}`
  return (await sign({ url, path, method: 'POST', headers: plain, body: '' }, credential, AbortSignal.timeout(SIGN_LIMIT_MS))).headers
}

/** Some credentials are exchanged for a token first. */
const SIGN_LIMIT_MS = 10_000

interface Question {
  readonly url: string
  readonly headers: Headers
  readonly connection: Probed
  readonly limitMs: number
}

async function statusOf(http: Pick<HttpClient, 'send'>, { url, headers, connection, limitMs }: Question): Promise<number> {
  const exchange = http.send({ url, method: 'GET', headers, connectTimeoutMs: connection.timeouts.connect })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    exchange.cancel()
  }, limitMs)
  try {
    return (await exchange.head).status
  } catch (error) {
    throw isLate ? new Error(`no answer within ${limitMs / 1_000} s`, { cause: error }) : error
  } finally {
    clearTimeout(timer)
    exchange.cancel()
  }
}
