import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DESTINATION_DEFAULTS } from '../core/destination.ts'
import { DESTINATIONS } from './index.ts'

/** Suites that run for every type must not miss a type that is added later. */
const here = (path: string): URL => new URL(path, import.meta.url)

describe.each([...DESTINATIONS.keys()])('%s', (type) => {
  it('passes the contract of destinations in a test of its own', () => {
    expect(readFileSync(here(`${type}.test.ts`), 'utf8')).toMatch(/^testDestination\(/m)
  })

  it('takes nothing older than what is kept in a queue', () => {
    expect(DESTINATIONS.get(type)?.limits.maxAgeMs ?? 0).toBeLessThanOrEqual(DESTINATION_DEFAULTS.maxAgeMs)
  })

  it.each(['full', 'minimal', 'failed', 'private', 'probe'])('has its bytes for %s on record', (name) => {
    expect(existsSync(here(`__golden__/${type}.${name}.http`))).toBe(true)
  })
})

it.each(['braintrust', 'clickhouse', 'datadog', 'opik', 'posthog', 's3', 'snowflake', 'weave'])('%s has a schema of its own format', (type) => {
  expect(existsSync(here(`__schemas__/${type}.json`))).toBe(true)
})
