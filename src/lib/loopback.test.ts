import { expect, it } from 'vitest'
import { isLoopback } from './loopback.ts'

it.each(['127.0.0.1', '127.8.9.10', '::1', '[::1]', 'localhost', 'LOCALHOST', 'box.localhost', '::ffff:127.0.0.1'])('%s is this machine', (host) =>
  expect(isLoopback(host)).toBe(true),
)

it.each(['0.0.0.0', '::', '192.168.1.5', '10.0.0.1', '128.0.0.1', 'localhost.example', 'notlocalhost', ''])('%j is not', (host) =>
  expect(isLoopback(host)).toBe(false),
)
