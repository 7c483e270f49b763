import { defined } from './defined.ts'

/** A Redis known by the sentinels that watch it: they are asked where its master is, at each new connection. */
export interface SentinelUrl {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** What the sentinels call the master. */
  readonly master: string
  readonly database: number
  /** Of master and sentinels alike. */
  readonly isTls: boolean
  /** Of the master. */
  readonly username?: string
  readonly password?: string
  /** Of the sentinels. */
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
}

const SHAPE = /^(?:redis|valkey)(s?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([\w.-]+)(?:\/(\d+))?(?:\?([^#]*))?$/
const SENTINEL_PORT = 26_379
const PARAMETERS = new Set(['sentinel_username', 'sentinel_password'])

/**
 * Reads `redis+sentinel://user:password@host:26379,host:26379/master/0?sentinel_password=...` (`rediss+sentinel`: over TLS). Several hosts are more
 * than a URL can name. Undefined: it is none.
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
