import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  address,
  connectionUrl,
  credential,
  credit,
  duration,
  flag,
  headers,
  host,
  httpUrl,
  origin,
  price,
  section,
  size,
  text,
  wait,
  whole,
} from './fields.ts'

/** What comes of a value; a problem as the sentence it completes. */
function read(field: z.ZodType, value: unknown): unknown {
  const result = field.safeParse(value)
  return result.success ? result.data : `expected ${result.error.issues[0]!.message}`
}
const DAY_MS = 86_400_000

describe.each([
  [
    'a whole number',
    whole(1, 3),
    'expected a whole number from 1 to 3',
    [1, 3, '1', ' 3 '],
    [1, 3, 1, 3],
    [0, 4, 1.5, '', '1.5', '0', '4', '-1', '1e0', true, null, [1], NaN, Infinity],
  ],
  [
    'a whole number without an end',
    whole(1),
    'expected a whole number of 1 or more',
    [1, 2 ** 53 - 1],
    [1, 2 ** 53 - 1],
    [2 ** 53, 1e300, '9007199254740993', undefined],
  ],
  ['a price', price(), 'expected a price in USD, zero or more', [0, 0.1], [0, 0.1], [-0.1, '1', Infinity, NaN, null]],
  [
    'a credit',
    credit(),
    'expected an amount in USD, zero or more',
    [0, 1e12, '0', ' 12.5 ', '.5', '5.'],
    [0, 1e12, 0, 12.5, 0.5, 5],
    [-1, '-1', '', '1e3', Infinity, true, null, ['1']],
  ],
  ['a bounded credit', credit(10), 'expected an amount in USD, from 0 to 10', [10, '10'], [10, 10], [10.01, '11']],
  ['a switch', flag(), 'expected true or false', [true, false, 'true', 'false'], [true, false, true, false], ['True', 'yes', '', 1, 0, null]],
  [
    'a duration',
    duration(),
    'expected a duration such as 500ms, 5s, 15m or 2h (a plain number counts seconds)',
    ['500ms', 5, '0'],
    [500, 5_000, 0],
    ['5 fortnights', -1, true, null],
  ],
  ['a wait', wait(), 'expected a duration of more than 0 and at most 24d, such as 5s', ['1ms', '24d'], [1, 24 * DAY_MS], [0, '25d']],
  ['a wait that may be none', wait(0), 'expected a duration of at most 24d', [0], [0], ['25d']],
  ['a size of at least a byte', size(), 'expected a size of a byte or more, such as 32MiB', [1, '1kB'], [1, 1_000], [0, '0MiB']],
  ['text', text('a name'), 'expected a name', ['a', ' '], ['a', ' '], ['', 1, null, undefined]],
  [
    'a key',
    credential(),
    'expected a key: visible ASCII characters in one line',
    ['k', ' k\n', 'a b'],
    ['k', 'k', 'a b'],
    ['', ' ', '\n', 'a\nb', 'é', 1, null],
  ],
  [
    'a host',
    host(),
    'expected a host name or address without scheme, port and brackets, such as 127.0.0.1 or ::1',
    ['127.0.0.1', '::1', '::', 'a-b.example', 'localhost', '::1\n'],
    ['127.0.0.1', '::1', '::', 'a-b.example', 'localhost', '::1'],
    ['[::1]', 'a:80', 'http://a', ''],
  ],
  [
    'an address of HTTP',
    httpUrl('a URL'),
    'expected a URL',
    ['http://a', 'https://a/v1//', 'HTTPS://a:8443/v1', ' https://a/v1/\n'],
    ['http://a', 'https://a/v1', 'HTTPS://a:8443/v1', 'https://a/v1'],
    ['http://a/v 1', 'http://a/v\n1', ' ', 'ftp://a', 'a/v1', 'https://', 'https://a?b', 'https://a#b', 'https://u@a', 'https://:p@a', '', null],
  ],
  [
    'an address of any scheme',
    address('an address'),
    'expected an address',
    ['nats://a:4222/', 'nats://a\n'],
    ['nats://a:4222', 'nats://a'],
    ['a', 'nats://u:p@a', 'nats:///a', 'nats://a?b', 'nats://a#b'],
  ],
  [
    'a URL with credentials',
    connectionUrl(/^db:\/\//, 'a URL'),
    'expected a URL',
    ['db://u:p%25@a/b', 'db://a', 'db://u@/b?host=/run', ' db://a\n'],
    ['db://u:p%25@a/b', 'db://a', 'db://u@/b?host=/run', 'db://a'],
    ['http://a', 'db://[', ''],
  ],
] as const)('%s', (_name, field, problem, good, meant, bad) => {
  it.each(good.map((value, index) => [value, meant[index]] as const))('may be %j', (value, expected) => expect(read(field, value)).toBe(expected))
  it.each<readonly [unknown]>(bad.map((value) => [value]))('is never %j', (value) => expect(read(field, value)).toBe(problem))
})

describe('a URL with credentials', () => {
  it('has no invalid escapes in them', () => {
    expect(read(connectionUrl(/^db:\/\//, 'a URL'), 'db://u:100%@a')).toBe('expected a URL, where a % in a name or password is written %25')
    // Behind them it is nobody's password.
    expect(read(connectionUrl(/^db:\/\//, 'a URL'), 'db://u@a/100%')).toBe('db://u@a/100%')
  })
})

describe('headers', () => {
  it('are names and values that can be sent', () => {
    expect(read(headers(), { 'x-a': ' b\n', "!#$%&'*+.^_`|~-9Z": 'tab\there' })).toEqual({ 'x-a': 'b', "!#$%&'*+.^_`|~-9Z": 'tab\there' })
    expect(read(headers(), [])).toBe('expected a mapping of header names to text')
  })
  it.each(['', 'a b', 'a:', 'é', 'a\n'])('have no name such as %j', (name) => {
    expect(read(headers(), { [name]: 'x' })).toBe('expected the name of a header, such as x-team')
  })
  it.each(['a\nb', 'é', '\0'])('have no value such as %j', (value) => {
    expect(read(headers(), { 'x-a': value })).toBe('expected ASCII characters in one line')
  })
  it.each(['Connection', 'content-length', 'Expect', 'keep-alive', 'Transfer-Encoding', 'upgrade'])('leave %s to each request', (name) => {
    expect(read(headers(), { [name]: 'x' })).toBe('expected another header, because this one belongs to each request')
  })
})

describe('a section', () => {
  it('is a mapping, and lists its keys where the value is something else', () => {
    const fields = section({ a: text(), b: text().optional() })
    expect(read(fields, { a: 'x' })).toEqual({ a: 'x' })
    expect(read(fields, { a: 'x', c: 1 })).toBe('expected one of: a, b')
    for (const value of [null, [], 'a', 1]) expect(read(fields, value)).toBe('expected a mapping')
  })
})

describe('the origin of a page', () => {
  it.each([
    ['https://chat.example.com', 'https://chat.example.com'],
    ['HTTPS://Chat.Example.com:443/', 'https://chat.example.com'],
    [' http://localhost:3000 ', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['app://obsidian.md', 'app://obsidian.md'],
    ['*', '*'],
  ])('%s', (given, read) => expect(origin().parse(given)).toBe(read))

  it.each(['chat.example.com', 'https://', 'https://chat.example.com/path', 'https://*.example.com', 'https://user@host', 'https://a b', 'null', ''])(
    'is not: %s',
    (given) => expect(origin().safeParse(given).success).toBe(false),
  )
})
