import { parseSentinelUrl } from '../lib/sentinel-url.ts'
import { connectionUrl } from './fields.ts'

const POSTGRES = 'a connection string such as postgres://user:password@host:5432/signalbox'
const REDIS = 'a URL such as redis://host:6379/0, or redis+sentinel://host:26379,host:26379/master'

/** The query of a URL of any scheme. */
const parametersOf = (url: string): URLSearchParams => new URLSearchParams(/\?([^#]*)/.exec(url)?.[1])

/**
 * Where PostgreSQL is. libpq accepts several servers and picks the one that takes writes. The driver used here does neither: it would read the list
 * as one strange host name and silently ignore the wish.
 */
export function postgresUrl() {
  return connectionUrl(/^postgres(ql)?:\/\//, POSTGRES, hasSeveralServers)
    .refine((url) => !hasSeveralServers(url), {
      error: `${POSTGRES}, with one host: what finds the server that takes writes among several stands before them (HAProxy, a name that moves)`,
    })
    .refine((url) => ['any', null].includes(parametersOf(url).get('target_session_attrs')), {
      error: `${POSTGRES}, without target_session_attrs: the one host has to be the server that takes writes`,
    })
    .refine((url) => wrongTimeLimit(url) === undefined, {
      error: ({ input }) => `${POSTGRES}, with ${wrongTimeLimit(String(input))} in whole milliseconds, such as 30000, and at most ${MAX_MS}`,
    })
}

const TIME_LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout']

/** With more nobody may log in, and the driver's own clock would be over at once. */
const MAX_MS = 2_147_483_647

/** PostgreSQL takes `30s`. The driver reads a number of milliseconds from it, 30, and from other texts none, with which nobody may log in. */
function wrongTimeLimit(url: string): string | undefined {
  const parameters = parametersOf(url)
  return TIME_LIMITS.find((name) => !parameters.getAll(name).every((text) => /^\d*$/.test(text) && Number(text) <= MAX_MS))
}

const hasSeveralServers = (url: string): boolean =>
  /^postgres(ql)?:\/\/([^/?#]*@)?[^/?#@]*,[^/?#@]*([/?#]|$)/.test(url) || (parametersOf(url).get('host') ?? '').includes(',')

/** Where Redis is. The driver would take a query as its own options, all of them as text: `connectTimeout=500` would end the process. */
export function redisUrl() {
  return connectionUrl(/^(rediss?|valkeys?):\/\/[^/]*(\/\d*)?(\?.*)?$/, REDIS, isOfSentinels).refine(
    (url) => isOfSentinels(url) || [...parametersOf(url)].every(([name, value]) => PARAMETERS[name]?.test(value)),
    { error: `${REDIS}, with no parameters but db=<number>, family=4 or family=6, username and password` },
  )
}

const isOfSentinels = (url: string): boolean => parseSentinelUrl(url) !== undefined

const PARAMETERS: { readonly [name: string]: RegExp | undefined } = {
  __proto__: null as never,
  db: /^\d+$/,
  family: /^[046]$/,
  username: /./,
  password: /./,
}
