import { expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { threadTime } from '../../testing/thread-time.ts'
import { responsesOptions } from './options.ts'
import { encodeTools } from './tools.ts'

it.each([true, false])(verifies('B1', 'a choice among many functions costs linear time (allowed_tools as such: %s)'), (known) => {
  const functions = (count: number) => Array.from({ length: count }, (_, n) => ({ type: 'function' as const, name: `f ${n}` }))
  const options = responsesOptions.parse({ allowed_tools: known })
  const choice = { type: 'allowed_tools' as const, mode: 'auto' as const, tools: functions(10_000) }
  const started = threadTime()
  const { tools } = encodeTools({ input: [], tools: functions(10_000), tool_choice: choice }, options, new Set(['tools', 'tool_choice']), new Set())
  expect(tools).toHaveLength(10_000)
  expect(threadTime() - started).toBeLessThan(1_000)
})

it.each([
  ['auto', { allowed_tools: true }, 'none', []],
  ['auto', { allowed_tools: false }, 'none', []],
  ['required', { allowed_tools: true }, 'none', ['tool_choice']],
] as const)('a choice (%s) among tools that are not offered forbids all that are: %o', (mode, options, forbidden, left) => {
  const dropped = new Set<string>()
  const choice = { type: 'allowed_tools' as const, mode, tools: [{ type: 'web_search' }] }
  const request = { input: [], tools: [{ type: 'function' as const, name: 'f' }], tool_choice: choice }
  const encode = (supports: readonly ('tools' | 'tool_choice')[]) => encodeTools(request, responsesOptions.parse(options), new Set(supports), dropped)
  expect(encode(['tools', 'tool_choice'])).toMatchObject({ tools: [{ name: 'f' }], choice: forbidden })
  expect(encode(['tools'])).not.toHaveProperty('tools')
  expect([...dropped]).toEqual(left)
})

const ways = { type: 'object', anyOf: [{ properties: { url: { type: 'string' } }, required: ['url'] }, { properties: { id: { type: 'string' } } }] }
const both = { type: 'object', properties: { url: { type: 'string' }, id: { type: 'string' } } }
const referring = { $ref: '#/definitions/a', definitions: { a: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } } }

it.each([
  ['a choice of schemas', ways, both],
  ['a reference', referring, { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], definitions: referring.definitions }],
  ['what it may not be', { ...both, not: { required: ['url', 'id'] } }, both],
  ['null', { ...both, type: ['object', 'null'] }, both],
])(
  'at its top, the schema of a function is an object and nothing else, for which all functions would be refused: %s',
  (_name, parameters, expected) => {
    const encoded = (strict: boolean | undefined) =>
      encodeTools(
        { input: [], tools: [{ type: 'function', name: 'f', parameters, ...(strict === undefined ? {} : { strict }) }] },
        responsesOptions.parse({}),
        new Set(['tools']),
        new Set(),
      ).tools
    // It is not the schema that was declared strict, and an absent field means strict.
    for (const strict of [true, false, undefined])
      expect(encoded(strict)).toEqual([{ type: 'function', name: 'f', parameters: expected, strict: false }])
  },
)
