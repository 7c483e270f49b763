import { expect, it } from 'vitest'
import { keyOptions } from './key-options.ts'

const key = (hash: string) => ({ hash, name: `key ${hash}`, label: `sk-...${hash}` })

it('keys are offered by name, and chosen ones that are not listed, or not yet, by the start of their hash', () => {
  expect(keyOptions([key('a')], ['a', '0123456789abcdef'])).toEqual([
    { value: 'a', label: 'key a (sk-...a)' },
    { value: '0123456789abcdef', label: '0123456789ab' },
  ])
})

it('no key is offered twice, because the component kit refuses to render such a list', () => {
  expect(keyOptions([], ['gone', 'gone']).map(({ value }) => value)).toEqual(['gone'])
  expect(keyOptions([key('a'), key('b'), key('a')], ['b', 'b']).map(({ value }) => value)).toEqual(['a', 'b'])
})
