import { describe, expect, it } from 'vitest'
import type { MessageItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { testCatalog, testEndpoint } from '../testing/endpoints.ts'
import { planRoute, type Plan, type PlanInput } from './plan.ts'

/** How the planner treats requests that can be adapted for endpoints that do not accept them unchanged. */
const say = (content: MessageItem['content']): ModelRequest => ({ model: 'acme/small', input: [{ type: 'message', role: 'user', content }] })
const words = (tokens: number): ModelRequest => say('wor '.repeat(tokens))
const withFile = say([{ type: 'input_file', file_data: 'JVBERi0=' }])
const withImage = say([{ type: 'input_image', image_url: 'https://a.test/1' }])

const plan = (endpoints: Parameters<typeof testCatalog>[0], request: ModelRequest, adaptation?: PlanInput['adaptation']): Plan =>
  planRoute({ request, catalog: testCatalog(endpoints), random: () => 0, now: 0, ...(adaptation === undefined ? {} : { adaptation }) })
const attempts = (result: Plan): readonly (readonly [string, boolean])[] => result.attempts.map(({ endpoint, adapt }) => [endpoint.tag, adapt])

const small = testEndpoint({ tag: 'small', contextLength: 8_000, inputModalities: ['text'] })
const large = testEndpoint({ tag: 'large', contextLength: 128_000, inputModalities: ['text', 'file'] })

describe('windows', () => {
  const shortens = { modalities: [], shortensUpTo: 8_192 }

  it('a plan is unchanged while the prompt fits', () => {
    expect(attempts(plan([small, large], words(1_000), shortens))).toEqual([
      ['small', false],
      ['large', false],
    ])
  })
  it('an endpoint that takes all of the prompt goes before one it is shortened for', () => {
    expect(attempts(plan([small, large], words(12_000), shortens))).toEqual([['large', false]])
  })
  it('without such an endpoint the prompt is shortened', () => {
    const planned = plan([small], words(12_000), shortens)
    expect(attempts(planned)).toEqual([['small', true]])
    expect(planned.attempts[0]?.notes).toEqual(['gets the request as plugins adapt it'])
  })
  it('the answer needs its space as well', () => {
    expect(attempts(plan([small], { ...words(7_000), max_output_tokens: 500 }, shortens))).toEqual([['small', false]])
    expect(attempts(plan([small], { ...words(7_000), max_output_tokens: 2_000 }, shortens))).toEqual([['small', true]])
  })
  it('a prompt is not shortened by more than half, if another model accepts it', () => {
    const other = testEndpoint({ tag: 'other', model: 'acme/large', contextLength: 128_000 })
    const both = { ...words(20_000), models: ['acme/large'] }
    expect(attempts(plan([small, other], both, shortens))).toEqual([['other', false]])
    expect(attempts(plan([small, other], { ...words(12_000), models: ['acme/large'] }, shortens))).toEqual([
      ['small', true],
      ['other', false],
    ])
    const withAnswer = { ...words(12_000), max_output_tokens: 5_000, models: ['acme/large'] }
    expect(attempts(plan([small, other], withAnswer, shortens))).toEqual([['other', false]])
  })
  it('by more than half, if no other model accepts it', () => expect(attempts(plan([small], words(100_000), shortens))).toEqual([['small', true]]))
  it('a prompt is not shortened for windows beyond the bound', () => {
    const medium = testEndpoint({ tag: 'medium', contextLength: 16_000 })
    expect(plan([medium], words(100_000), shortens).error).toMatchObject({ errorType: 'context_length_exceeded' })
    expect(attempts(plan([medium], words(17_000), shortens))).toEqual([['medium', false]])
    expect(attempts(plan([medium], words(100_000), { modalities: [], shortensUpTo: Infinity }))).toEqual([['medium', true]])
    expect(attempts(plan([{ ...medium, contextLength: 8_192 }], words(12_000), shortens))).toEqual([['medium', true]])
  })
  it('a prompt is not shortened for models that only make images', () => {
    const painter = testEndpoint({ tag: 'painter', contextLength: 8_000, outputModalities: ['image'] })
    expect(plan([painter], words(100_000), shortens).error).toMatchObject({ errorType: 'context_length_exceeded' })
  })
  it('a prompt is not shortened when the answer alone would fill the window', () => {
    expect(plan([small], { ...words(100_000), max_output_tokens: 8_000 }, shortens).attempts).toEqual([])
  })
})

describe('modalities', () => {
  const reads = { modalities: ['file'], shortensUpTo: 0 } as const

  it('an endpoint that takes files goes before one that gets their text', () => {
    expect(attempts(plan([small, large], withFile, reads))).toEqual([['large', false]])
  })
  it('without such an endpoint their text is given', () => {
    expect(attempts(plan([small], withFile, reads))).toEqual([['small', true]])
    expect(plan([small], withFile).error).toMatchObject({ errorType: 'not_found' })
  })
  it('other media are not converted', () => expect(plan([small], withImage, reads).error).toMatchObject({ errorType: 'not_found' }))
  it('an endpoint that reads only some files is checked before each attempt', () => {
    const { connection } = large
    const picky = { ...large, connection: { ...connection, dialect: { ...connection.dialect, takesFile: () => true } } }
    expect(attempts(plan([picky], withFile, reads))).toEqual([['large', true]])
    expect(attempts(plan([picky], words(10), reads))).toEqual([['large', false]])
  })
})
