import { describe, expect, it } from 'vitest'
import { parseSentinelUrl } from './sentinel-url.ts'

describe('a URL that names sentinels', () => {
  it('names all of them, and their name of the master', () => {
    expect(parseSentinelUrl('redis+sentinel://a.example:26380,b.example,[2001:db8::1]:5000/main')).toEqual({
      sentinels: [
        { host: 'a.example', port: 26380 },
        { host: 'b.example', port: 26379 },
        { host: '2001:db8::1', port: 5000 },
      ],
      master: 'main',
      database: 0,
      isTls: false,
    })
  })

  it('has credentials of the master before the hosts and those of the sentinels as parameters', () => {
    const url = 'valkeys+sentinel://box:p%40ss:word@s/main/3?sentinel_username=watch&sentinel_password=o%26k'
    expect(parseSentinelUrl(url)).toEqual({
      sentinels: [{ host: 's', port: 26379 }],
      master: 'main',
      database: 3,
      isTls: true,
      username: 'box',
      password: 'p@ss:word',
      sentinelUsername: 'watch',
      sentinelPassword: 'o&k',
    })
    expect(parseSentinelUrl('redis+sentinel://:secret@s/main')).toMatchObject({ password: 'secret' })
  })

  it.each([
    'redis://s/0',
    'redis+sentinel://s',
    'redis+sentinel://s/',
    'redis+sentinel:///main',
    'redis+sentinel://s,/main',
    'redis+sentinel://s:99999/main',
    'redis+sentinel://s/main/first',
    'redis+sentinel://s/main/0/1',
    'redis+sentinel://s/main?role=slave',
    'postgres+sentinel://s/main',
  ])('is refused: %s', (url) => expect(parseSentinelUrl(url)).toBeUndefined())
})
