import { expect, it } from 'vitest'
import { Secret } from '../lib/secret.ts'
import { driverUrl } from './postgres-url.ts'

const read = (url: string): string => driverUrl(new Secret(url))

it.each([
  ['postgres://box@db/box?sslmode=require', 'postgres://box@db/box?sslmode=verify-full'],
  ['postgres://box@db/box?sslmode=prefer&connect_timeout=3', 'postgres://box@db/box?sslmode=verify-full&connect_timeout=3'],
  ['postgres://box@db/box?sslrootcert=%2Fca.pem&sslmode=verify-ca', 'postgres://box@db/box?sslrootcert=%2Fca.pem&sslmode=verify-full'],
])('requests certificate checks in the form without a driver warning: %s', (url, expected) => {
  expect(read(url)).toBe(expected)
})

it.each([
  'postgres://box@db/box',
  'postgres://box@db/box?sslmode=verify-full',
  'postgres://box@db/box?sslmode=no-verify',
  'postgres://box@db/box?sslmode=disable',
  'postgres://box@db/box?sslmode=require&uselibpqcompat=true',
  'postgres://box@db/box?application_name=sslmode=require',
])('leaves URLs with another meaning unchanged: %s', (url) => {
  expect(read(url)).toBe(url)
})
