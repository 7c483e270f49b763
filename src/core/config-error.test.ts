import { expect, it } from 'vitest'
import { ConfigError } from './config-error.ts'

it('the message shows a hundred problems and the number of the others; the error keeps them all', () => {
  const problems = Array.from({ length: 10_000 }, (_, i) => ({ path: `models[${i}]`, message: 'missing', line: i + 1 }))
  const error = new ConfigError(problems, 'signalbox.yaml')
  const lines = error.message.split('\n')
  expect(lines[0]).toBe('10000 problems in the configuration (signalbox.yaml):')
  expect(lines[1]).toBe('  models[0] (line 1): missing')
  expect(lines).toHaveLength(102)
  expect(lines.at(-1)).toBe('  and 9900 more')
  expect(error.problems).toHaveLength(10_000)
})
