import { expect, it } from 'vitest'
import { postgresUrl, redisUrl } from './storage-urls.ts'

it.each([
  'postgres://box:a,b@db:5432/box',
  'postgresql://box@db/box?options=-c%20search_path%3Da,b',
  'postgres://box@/box?host=/run/postgresql',
  'postgres://db/box?sslmode=require&channel_binding=require&target_session_attrs=any',
  'postgres://db/box?statement_timeout=30000&lock_timeout=2147483647&idle_in_transaction_session_timeout=60000&query_timeout=',
])('%s is one PostgreSQL', (url) => expect(postgresUrl().parse(url)).toBe(url))

it.each([
  'redis://cache',
  'redis://cache:6380/2?family=6',
  'rediss://user:p,w@cache?db=2&username=a&password=b',
  'valkeys://cache/1?family=0',
  'redis+sentinel://a:26379,b/main/0?sentinel_username=a&sentinel_password=b',
])('%s is one Redis', (url) => expect(redisUrl().parse(url)).toBe(url))

/** PostgreSQL reads `30s` as half a minute. The driver reads its digits, as milliseconds, or sends `NaN`. */
it.each([
  'statement_timeout=30s',
  'lock_timeout=x',
  'idle_in_transaction_session_timeout=1min',
  'query_timeout=-1',
  // The server takes no login with a larger one, and the driver's own clock would end each query at once.
  'statement_timeout=2147483648',
  'query_timeout=30000&query_timeout=99999999999',
])('%s is no time limit of a connection', (limit) =>
  expect(postgresUrl().safeParse(`postgres://db/box?${limit}`).error?.issues[0]?.message).toContain(
    `with ${limit.split('=')[0]} in whole milliseconds, such as 30000`,
  ),
)
