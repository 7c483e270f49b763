import { describe, expect, it } from 'vitest'
import type { FunctionTool, Tool } from '../../core/item.ts'
import { classifyUpstreamError } from './errors.ts'
import { withoutParameters } from './refused-parameters.ts'

const refusal = (param: string, status = 400): unknown => {
  const message = `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length 1200 instead.`
  const error = { message, type: 'invalid_request_error', param, code: 'string_above_max_length' }
  return classifyUpstreamError({ status, headers: {}, body: JSON.stringify({ error }), providerName: 'Acme' }).details.metadata?.['refused_parameter']
}

describe('a description that is too long', () => {
  it.each(['tools[2].function.description', 'tools[13].description', 'tools[0].tools[4].description'])('is known: %s', (param) => {
    expect(refusal(param)).toBe('tool descriptions beyond 1024 characters')
    expect(refusal(param, 500)).toBeUndefined()
  })
  it('is not assumed for another string', () => {
    for (const param of ['input[3].call_id', 'tools[0].function.name', 'metadata.description']) expect(refusal(param)).toBeUndefined()
  })
})

describe('a request whose descriptions are too long', () => {
  const NAME = 'tool descriptions beyond 100 characters'
  const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ')
  const f = (description?: string): FunctionTool => ({ type: 'function', name: 'f', ...(description === undefined ? {} : { description }) })
  const short = (tools: readonly Tool[], instructions?: string) =>
    withoutParameters({ input: [], tools, ...(instructions === undefined ? {} : { instructions }) }, [NAME])

  it('moves the rest of them to its instructions', () => {
    const { tools, instructions } = short([f(words), { type: 'custom', name: 'g', description: words }], 'Be brief.')
    for (const tool of tools as readonly FunctionTool[]) expect(tool.description).toHaveLength(100)
    const [first] = tools as readonly FunctionTool[]
    const kept = first!.description!.replace(' [more in the instructions]', '')
    const rest = words.slice(kept.length)
    expect(kept + rest).toBe(words)
    expect(instructions).toBe(`Be brief.\n\nThe tool f, further:\n${rest}\n\nThe tool g, further:\n${rest}`)
  })
  it('does so for tools in namespaces, too, and without other instructions', () => {
    const { tools, instructions } = short([{ type: 'namespace', name: 'n', tools: [f(words)] }])
    expect(tools).toMatchObject([{ type: 'namespace', tools: [{ name: 'f', description: expect.stringMatching(/\[more in the instructions\]$/) }] }])
    expect(instructions).toMatch(/^The tool f, further:\n/)
  })
  it('is unchanged where all are short enough', () => {
    const request = { input: [], tools: [f('Short.'), f(), { type: 'web_search' }, { type: 'namespace', name: 'n', tools: [f('Short.')] }] } as const
    expect(withoutParameters(request, [NAME])).toBe(request)
  })
  it('drops other refused parameters, as well', () => {
    const { tools, ...rest } = withoutParameters({ input: [], temperature: 1, tools: [f(words)] }, ['temperature', NAME])
    expect(tools).toHaveLength(1)
    expect(rest).not.toHaveProperty('temperature')
  })
})
