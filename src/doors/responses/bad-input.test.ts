import { describe, expect, it } from 'vitest'
import { type GatewayError, isGatewayError } from '../../core/error.ts'
import { type Example, ITEMS, PARTS, TOOLS } from './__fixtures__/examples.ts'
import { PLUGINS, REQUEST, TOOL_CHOICES } from './__fixtures__/option-examples.ts'
import { decodeResponsesRequest } from './decode-request.ts'
import { describeDoors } from '../shared/describe-doors.ts'
import { describeResponses } from './openapi.ts'

function refusal(body: unknown): GatewayError {
  try {
    decodeResponsesRequest(body)
  } catch (error) {
    if (isGatewayError(error)) return error
    throw error
  }
  throw new Error('the request was accepted')
}

/** Splits `a.b[0].c` into its steps. */
const steps = (path: string): string[] => path.split(/[.[\]]+/).filter((step) => step !== '')

/** A deep copy with another value at the path. */
function replaced(root: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  if (Array.isArray(root)) return root.map((entry, i) => (String(i) === step ? replaced(entry, rest, value) : entry))
  const object = (root ?? {}) as Record<string, unknown>
  return { ...object, [step]: replaced(object[step], rest, value) }
}

interface Case {
  readonly path: string
  readonly body: unknown
}

function cases(examples: Readonly<Record<string, Example>>, tag: string, at: string, wrap: (value: unknown) => unknown): Case[] {
  return Object.entries(examples).flatMap(([name, { ok, wrong }]) =>
    Object.entries(wrong).map(([field, value]) => ({ path: `${at}.${field}`, body: wrap(replaced({ [tag]: name, ...ok }, steps(field), value)) })),
  )
}

const tables: Readonly<Record<string, readonly Case[]>> = {
  'fields of the request': Object.entries(REQUEST.wrong).map(([path, value]) => ({ path, body: replaced(REQUEST.ok, steps(path), value) })),
  'content parts': cases(PARTS, 'type', 'input[0].content[0]', (part) => ({ input: [{ role: 'user', content: [part] }] })),
  items: cases(ITEMS, 'type', 'input[0]', (item) => ({ input: [item] })),
  tools: cases(TOOLS, 'type', 'tools[0]', (tool) => ({ input: 'Hello', tools: [tool] })),
  'tool choices': cases(TOOL_CHOICES, 'type', 'tool_choice', (choice) => ({ input: 'Hello', tool_choice: choice })),
  plugins: cases(PLUGINS, 'id', 'plugins[0]', (plugin) => ({ input: 'Hello', plugins: [plugin] })),
}

describe.each(Object.entries(tables))('a bad value in %s is a 400 that names its path', (_, table) => {
  it.each(table.map(({ path, body }) => [path, JSON.stringify(body).length, body] as const))('%s (%i characters)', (path, _length, body) => {
    const error = refusal(body)
    expect(error.status).toBe(400)
    expect(error.details.path).toBe(path)
    expectOneSentence(error.message, path)
  })
})

function expectOneSentence(message: string, path: string): void {
  expect(Buffer.byteLength(message)).toBeLessThan(1024)
  expect(message.startsWith(`${path} `)).toBe(true)
  expect(message).toMatch(/^[^\n]+[^.]\.$/)
  // Not a nested dump of what every branch of a union expected.
  expect(message).not.toMatch(/[Ii]nvalid input|invalid_union|expected .*received/)
}

describe('no documented field is missing from the tables in __fixtures__ (examples.ts, option-examples.ts)', () => {
  const { schemas } = describeDoors([describeResponses()]).components
  type Properties = Readonly<Record<string, unknown>>
  const component = (name: string): { properties: Properties; required?: readonly string[] } => schemas[name] as never
  const pascal = (name: string): string => name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const groups = [
    ['Part', PARTS, 'type'],
    ['Item', ITEMS, 'type'],
    ['Tool', TOOLS, 'type'],
    ['Plugin', PLUGINS, 'id'],
  ] as const
  const ignored = new Set(['OtherItem', 'InputItem', 'OtherTool', 'EncryptedContentPart'])

  it.each(groups)('%s', (suffix, examples, tag) => {
    const names = Object.keys(schemas).filter((name) => name.endsWith(suffix) && !ignored.has(name))
    expect(
      Object.keys(examples)
        .map((name) => pascal(name) + suffix)
        .toSorted(),
    ).toEqual(names.toSorted())
    for (const [name, { ok, wrong }] of Object.entries(examples)) {
      const fields = Object.keys(component(pascal(name) + suffix).properties).filter((field) => field !== tag)
      const tried = new Set(Object.keys(wrong).map((path) => steps(path)[0]))
      expect([name, fields.filter((field) => !tried.has(field))]).toEqual([name, []])
      expect([name, fields.filter((field) => !(field in ok))]).toEqual([name, []])
    }
  })

  it('Request', () => {
    const fields = Object.keys(component('ResponsesRequest').properties)
    const tried = new Set(Object.keys(REQUEST.wrong).map((path) => steps(path)[0]))
    // `route` accepts any value.
    expect(fields.filter((field) => !tried.has(field))).toEqual(['route'])
    expect(fields.filter((field) => !(field in REQUEST.ok))).toEqual([])
  })
})

describe('a required field that is missing', () => {
  const asked = { role: 'user', content: 'Hi' }
  const required = Object.entries(ITEMS).flatMap(([name, { ok }]) =>
    Object.keys(ok).flatMap((field) => {
      const { [field]: _, ...rest } = ok
      try {
        decodeResponsesRequest({ input: [{ type: name, ...rest }, asked] })
        return []
      } catch {
        return [[name, field, { type: name, ...rest }] as const]
      }
    }),
  )

  it.each(required)('%s without %s', (_, field, item) => {
    const error = refusal({ input: [item, asked] })
    expect(error.details.path).toBe(`input[0].${field}`)
    expect(error.message).toMatch(/ is required and must be /)
  })

  it('is never an id or a status', () => {
    expect(required.length).toBeGreaterThan(20)
    expect(required.filter(([, field]) => field === 'id' || field === 'status')).toEqual([])
  })
})

describe('a body of too many fields', () => {
  const body = (count: number): object => Object.fromEntries([['input', 'x'], ...Array.from({ length: count }, (_, n) => [`x${n}`, n])])
  it('is refused: each of them would be carried to every attempt', () => {
    expect(refusal(body(1_024))).toMatchObject({
      errorType: 'invalid_request',
      message: 'The request body must have at most 1024 fields.',
      details: { path: 'body' },
    })
    expect(decodeResponsesRequest(body(1_023))).toMatchObject({ x0: 0, x1022: 1_022 })
  })
})
