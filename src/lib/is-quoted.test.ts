import { expect, it } from 'vitest'
import { isQuoted } from './is-quoted.ts'

it.each(['"sk-1"', "'sk-1'", '""', ' "sk-1"\n', '"a\nb"'])('sees the quotation marks around %j', (text) => expect(isQuoted(text)).toBe(true))

it.each(['sk-1', '"', '"sk-1', 'sk-"1"', `"sk-1'`, '', '{"type": "service_account"}'])('sees none around %j', (text) =>
  expect(isQuoted(text)).toBe(false),
)
