import { defined } from './defined.ts'

/** A Redis known through the sentinels that watch it: they are asked for its master at each new connection. */
export interface SentinelUrl {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** The master's name at the sentinels. */
  readonly master: string
  readonly database: number
  /** Applies to the master and the sentinels. */
  readonly isTls: boolean
  /** Credentials of the master. */
  readonly username?: string
  readonly password?: string
  /** Credentials of the sentinels. */
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
}

const SHAPE = /^(?:redis|valkey)(s?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([\w.-]+)(?:\/(\d+))?(?:\?([^#]*))?$/
const SENTINEL_PORT = 26_379
const PARAMETERS = new Set(['sentinel_username', 'sentinel_password'])

/**
 * Parses `redis+sentinel://user:password@host:26379,host:26379/master/0?sentinel_password=...` (`rediss+sentinel`: over TLS). Not with URL, which cannot
 * contain several hosts. Undefined if the text is not such an address.
 */
export function parseSentinelUrl(url: string): SentinelUrl | undefined {
  const [, tls, credentials = '', hosts = '', master = '', database = '0', query = ''] = SHAPE.exec(url) ?? []
  const sentinels = hosts.split(',').map(placeOf)
  const parameters = new URLSearchParams(query)
  if (tls === undefined || !sentinels.every((place) => place !== undefined)) return undefined
  if ([...parameters.keys()].some((name) => !PARAMETERS.has(name))) return undefined
  const [, username = '', password = ''] = /^([^:]*)(?::(.*))?$/.exec(credentials) ?? []
  return {
    sentinels,
    master,
    database: Number(database),
    isTls: tls === 's',
    ...defined({
      username: decoded(username) || undefined,
      password: decoded(password) || undefined,
      sentinelUsername: parameters.get('sentinel_username') || undefined,
      sentinelPassword: parameters.get('sentinel_password') || undefined,
    }),
  }
}

/** Malformed escapes are reported when the configuration is read. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function placeOf(text: string): { readonly host: string; readonly port: number } | undefined {
  const url = URL.parse(`redis://${text}`)
  if (url === null || url.hostname === '') return undefined
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port === '' ? SENTINEL_PORT : Number(url.port) }
}
