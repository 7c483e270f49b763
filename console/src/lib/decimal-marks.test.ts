import { expect, it } from 'vitest'
import { decimalMarks } from './decimal-marks.ts'

it('a comma begins the decimals where the language writes them so, and groups digits elsewhere', () => {
  expect(['en-US', 'en-GB', 'ja', 'he'].map((language) => decimalMarks(language))).toEqual([['.'], ['.'], ['.'], ['.']])
  expect(['de-DE', 'fr', 'pt-BR', 'ru'].map((language) => decimalMarks(language))).toEqual(Array.from({ length: 4 }, () => ['.', ',']))
})
