import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ERROR_KINDS } from '../src/core/error.ts'

const read = (file: string): string => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
const { groups } = parse(read('deploy/alerts.yaml')) as {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: { readonly description?: string } }[]
  }[]
}
const rules = groups.flatMap((group) => group.rules)
const page = read('docs/reference/operations.md')

it.each(rules)('the alert $alert asks for figures the gateway has, by labels they have', ({ expr }) => {
  const asked = [...expr.matchAll(/(gateway_\w+)(?:\{([^}]*)\})?/g)]
  expect(asked.length).toBeGreaterThan(0)
  for (const [, metric, matchers = ''] of asked) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${metric}\` |`)) ?? `nothing of ${metric}`
    expect(row).toContain(`| \`${metric}\` |`)
    for (const [, label] of matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)) expect(row).toContain(`\`${label}\``)
  }
})

it('errors of callers raise no alert, and the error types that do are known to the gateway', () => {
  const counted = [
    ...rules
      .map(({ expr }) => expr)
      .join('\n')
      .matchAll(/error_type=~"([^"]+)"/g),
  ].map(([, types]) => types!.split('|'))
  expect(counted).toHaveLength(2)
  for (const types of counted) {
    expect(types).toContain('provider_unavailable')
    for (const type of types) expect(ERROR_KINDS).toHaveProperty(type)
  }
})

it('the alert on missing clean-up counts from the start of the process while its figure does not exist yet', () => {
  const { expr } = rules.find(({ alert }) => alert === 'SignalboxNothingCleansUp')!
  expect(expr).toMatch(/gateway_retention_last_run_timestamp_seconds\s+or on \(job, instance\) \(process_start_time_seconds\b/)
})

// A caller with two requests per minute who sends ten a second is refused most of the time, which is nobody else's fault.
it('calls that a limit of their caller refuses are no failures of the gateway', () => {
  const { expr } = rules.find(({ alert }) => alert === 'SignalboxCallsFail')!
  expect(expr).toMatch(/rate_limit_exceeded"\}\[5m\]\)\)\s+- sum by \(job\) \(rate\(gateway_calls_limited_total\[5m\]\)\)/)
})

// From two hundred calls a second on, some record is on its way whenever anybody looks.
it('records that are on their way are no reason to wake anybody, but how long they have been', () => {
  expect(rules.find(({ alert }) => alert === 'SignalboxRecordsWait')!.expr).toBe('gateway_records_oldest_seconds > 60')
})

// The Service of the manifest has gateways only: whoever scrapes that never sees a worker clean up.
it('gateways whose workers are not scraped raise no alarm', () => {
  const { expr } = rules.find(({ alert }) => alert === 'SignalboxNothingCleansUp')!
  expect(expr).toMatch(/process_start_time_seconds and on \(job, instance\) gateway_role\{role!="gateway"\}/)
})
