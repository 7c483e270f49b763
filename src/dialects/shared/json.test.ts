import { expect, it } from 'vitest'
import { wholeArguments } from './json.ts'

it('arguments are an object as it was written, or an object that contains the invalid text', () => {
  for (const sound of ['{}', ' {"a": 1.0}\n', '{"a":{"b":[12345678901234567890]}}']) expect(wholeArguments(sound)).toBe(sound)
  for (const odd of ['{"a":', '', '[1]', '"{\\"a\\":1}"', '1', 'true', 'null', 'a = 1'])
    expect(JSON.parse(wholeArguments(odd))).toEqual({ _raw: odd })
})
