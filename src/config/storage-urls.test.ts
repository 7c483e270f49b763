import { expect, it } from 'vitest'
import { postgresUrl, redisUrl } from './storage-urls.ts'

it.each([
  'postgres://box:a,b@db:5432/box',
  'postgresql://box@db/box?options=-c%20search_path%3Da,b',
  'postgres://box@/box?host=/run/postgresql',
  'postgres://db/box?sslmode=require&channel_binding=require&target_session_attrs=any',
])('%s is one PostgreSQL', (url) => expect(postgresUrl().parse(url)).toBe(url))

it.each([
  'redis://cache',
  'redis://cache:6380/2?family=6',
  'rediss://user:p,w@cache?db=2&username=a&password=b',
  'valkeys://cache/1?family=0',
  'redis+sentinel://a:26379,b/main/0?sentinel_username=a&sentinel_password=b',
])('%s is one Redis', (url) => expect(redisUrl().parse(url)).toBe(url))
