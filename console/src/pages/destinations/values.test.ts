import { describe, expect, it } from 'vitest'
import type { Field } from './schema-fields.ts'
import { configChanges, filled, isSame, valuesOf } from './values.ts'

type Kind = Field extends infer F ? (F extends Field ? Omit<F, 'name' | 'label' | 'help' | 'required' | 'fallback'> : never) : never
const field = (name: string, kind: Kind, more: Partial<Field> = {}): Field =>
  ({ name, label: name, help: undefined, required: false, fallback: undefined, ...kind, ...more }) as Field

const url = field('url', { kind: 'text' }, { required: true })
const key = field('key', { kind: 'secret' }, { required: true })
const token = field('token', { kind: 'secret' })
const headers = field('headers', { kind: 'map', isSecret: true })
const tags = field('tags', { kind: 'list', ofNumbers: false })
const retry = field('retry', { kind: 'group', fields: [field('times', { kind: 'number', isWhole: true }, { required: true })] })
const filter = field('filter', { kind: 'json' })
const loud = field('loud', { kind: 'switch' }, { fallback: true })

const STORED = { url: 'https://a.example', key: 'abcd...wxyz', headers: { 'x-one': '********' } }

/** What is sent after changes in a form that was opened on `stored`. */
function sent(fields: readonly Field[], stored: object, typed: object): unknown {
  const config = stored as { readonly [name: string]: unknown }
  return configChanges(config, filled(fields, { ...valuesOf(fields, config), ...typed }, config).config)
}

describe('a new destination', () => {
  it('has the settings that were typed, and leaves the others to the gateway', () => {
    const values = { url: 'https://a.example', key: 's3cret', token: '', headers: [{ name: ' x-one ', value: '1' }], tags: 'a\n\n b \n' }
    expect(filled([url, key, token, headers, tags, loud, retry, filter], values)).toEqual({
      config: { url: 'https://a.example', key: 's3cret', headers: { 'x-one': '1' }, tags: ['a', 'b'] },
      problems: {},
    })
  })

  it('has no blanks around what was pasted: no platform knows a key with a blank at its end', () => {
    expect(filled([url, key, token], { url: ' https://a.example\t', key: ' s3cret ', token: '  ' }).config).toEqual({
      url: 'https://a.example',
      key: 's3cret',
    })
    // What is stored stays as it is.
    expect(sent([url, key], { url: ' https://a.example ', key: '********' }, { key: '  ' })).toBeUndefined()
  })

  it('reports everything that is missing at once', () => {
    expect(filled([url, key, token], valuesOf([url, key, token])).problems).toEqual({ 'config.url': 'is needed', 'config.key': 'is needed' })
  })

  it('requires the fields of an optional group only once one of them is filled in', () => {
    const withRate = field('retry', { kind: 'group', fields: [...(retry as { fields: readonly Field[] }).fields, field('unit', { kind: 'text' })] })
    expect(filled([withRate], { retry: { times: '', unit: '' } })).toEqual({ config: {}, problems: {} })
    expect(filled([withRate], { retry: { times: '', unit: 's' } }).problems).toEqual({ 'config.retry.times': 'is needed' })
    expect(filled([withRate], { retry: { times: '3', unit: 's' } }).config).toEqual({ retry: { times: 3, unit: 's' } })
  })

  it('reads numbers, lists of numbers and JSON, and reports invalid ones', () => {
    const ports = field('ports', { kind: 'list', ofNumbers: true })
    const size = field('size', { kind: 'number', isWhole: false })
    expect(filled([ports, size, filter], { ports: '1\n2', size: '0.5', filter: '{"a": [1]}' }).config).toEqual({
      ports: [1, 2],
      size: 0.5,
      filter: { a: [1] },
    })
    const { problems } = filled([ports, size, filter], { ports: '1\ntwo', size: 'large', filter: '{' })
    expect(Object.keys(problems)).toEqual(['config.ports', 'config.size', 'config.filter'])
  })

  it('has each name of a map once, and no value without a name', () => {
    expect(
      filled([headers], {
        headers: [
          { name: 'a', value: '1' },
          { name: 'a ', value: '2' },
        ],
      }).problems,
    ).toEqual({ 'config.headers.a': 'appears twice' })
    expect(filled([headers], { headers: [{ name: '', value: '1' }] }).problems).toEqual({ 'config.headers': 'every value needs a name' })
    expect(filled([headers], { headers: [{ name: '', value: '' }] })).toEqual({ config: {}, problems: {} })
  })

  it('sends a switch only once somebody has touched it', () => {
    expect(filled([loud], valuesOf([loud])).config).toEqual({})
    expect(filled([loud], { loud: false }).config).toEqual({ loud: false })
  })
})

describe('a change', () => {
  it('shows no secret, nor its mask, as a value', () => {
    expect(valuesOf([url, key, headers], STORED)).toEqual({
      url: 'https://a.example',
      key: '',
      headers: [{ name: 'x-one', value: '', kept: '********' }],
    })
  })

  it('of nothing sends nothing', () => {
    const rich = { ...STORED, tags: ['a'], retry: { times: 2 }, filter: { b: 1, a: [2] }, loud: false, note: '', none: {} }
    const fields = [
      url,
      key,
      token,
      headers,
      tags,
      retry,
      filter,
      loud,
      field('note', { kind: 'text' }),
      field('none', { kind: 'map', isSecret: false }),
    ]
    expect(sent(fields, rich, {})).toBeUndefined()
  })

  it('sends what differs, and no secret that was not touched', () => {
    expect(sent([url, key, headers], STORED, { url: 'https://b.example' })).toEqual({ url: 'https://b.example' })
    expect(sent([url, key, headers], STORED, { key: 'new' })).toEqual({ key: 'new' })
  })

  it('removes what was emptied, and a secret only when told to', () => {
    expect(sent([url, token], { url: 'u', token: '********' }, { url: '', token: null })).toEqual({ url: null, token: null })
    expect(sent([token], { token: '********' }, { token: '' })).toBeUndefined()
  })

  it('of one value of a map sends all of them, the kept ones as their masks', () => {
    const rows = [
      { name: 'x-one', value: '', kept: '********' },
      { name: 'x-two', value: '2' },
    ]
    expect(sent([headers], { headers: STORED.headers }, { headers: rows })).toEqual({ headers: { 'x-one': '********', 'x-two': '2' } })
    expect(sent([headers], { headers: STORED.headers }, { headers: [] })).toEqual({ headers: null })
  })
})

it('values are equal whatever the order of their members, and differ if any member differs', () => {
  expect(isSame({ a: [1, { b: null }], c: 2 }, { c: 2, a: [1, { b: null }] })).toBe(true)
  for (const other of [{ a: [1], c: 2 }, { a: [1, { b: null }] }, { a: [1, { b: 0 }], c: 2 }, [1], null, undefined]) {
    expect(isSame({ a: [1, { b: null }], c: 2 }, other)).toBe(false)
  }
})
