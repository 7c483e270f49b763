import { describe, expect, it } from 'vitest'
import type { GatewayError } from '../../core/error.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { decodeResponsesRequest } from '../responses/decode-request.ts'
import { withOwnPath } from '../shared/own-path.ts'
import { BODIES } from './__fixtures__/bodies.ts'
import { generateContentToResponses } from './to-responses.ts'

type Json = { readonly [field: string]: unknown }

const URL = '/api/v1beta/models/acme/small:generateContent'
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const read = (fields: object, url = URL) => generateContentToResponses({ contents, ...fields }, url)
const ask = (fields: object): Json => read(fields).body

const BARE = {
  model: 'acme/small',
  include: ['reasoning.encrypted_content'],
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
}

describe('the address', () => {
  it.each([
    ['/api/v1beta/models/acme/small:generateContent', { model: 'acme/small' }],
    ['/api/v1beta/models/acme%2Fsmall:generateContent?x=1', { model: 'acme/small' }],
    ['/api/v1beta/models/small:nitro:generateContent', { model: 'small:nitro' }],
    ['/api/v1beta/acme/small:generateContent', { model: 'acme/small' }],
    ['/api/v1beta/models/@preset/mail:streamGenerateContent?alt=sse', { model: '@preset/mail', stream: true }],
  ])('%s', (url, expected) => {
    expect(read({}, url).body).toEqual({ ...BARE, ...expected })
  })

  it.each([
    ['/api/v1beta/models/small:streamGenerateContent?alt=media', 'alt must be "sse"'],
    ['/api/v1beta/models/%ZZ:generateContent', 'model must be named in the path'],
  ])('%s is refused', (url, message) => {
    expect(() => read({}, url)).toThrow(message)
  })

  it.each([
    ['?alt=sse', false],
    ['', true],
    ['?alt=json', true],
    ['?%24alt=json%3Benum-encoding%3Dint', true],
  ])('of a stream says in what form it comes: %s', (query, listed) => {
    expect(read({}, `/api/v1beta/models/acme/small:streamGenerateContent${query}`)).toMatchObject({ body: { stream: true }, preferences: { listed } })
  })
})

describe('fields', () => {
  const config = (generationConfig: object): object => ({ generationConfig })
  it.each<readonly [string, object, object]>([
    ['a limit', config({ maxOutputTokens: 9 }), { max_output_tokens: 9 }],
    [
      'what sampling is steered by',
      config({ temperature: 0.5, topP: 0.9, topK: 40, seed: 7, presencePenalty: 1, frequencyPenalty: -1 }),
      { temperature: 0.5, top_p: 0.9, top_k: 40, seed: 7, presence_penalty: 1, frequency_penalty: -1 },
    ],
    ['a number of tokens that came as a float', config({ topK: 39.99999 }), { top_k: 40 }],
    ['where to stop', config({ stopSequences: ['a'] }), { stop: ['a'] }],
    ['nowhere to stop', config({ stopSequences: [] }), {}],
    ['one answer', config({ candidateCount: 1 }), {}],
    [
      'probabilities',
      config({ responseLogprobs: true, logprobs: 3 }),
      { top_logprobs: 3, include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] },
    ],
    ['JSON', config({ responseMimeType: 'application/json' }), { text: { format: { type: 'json_object' } } }],
    [
      'a schema of the subset of OpenAPI',
      config({ responseMimeType: 'application/json', responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] } }),
      {
        text: {
          format: {
            type: 'json_schema',
            name: 'answer',
            strict: true,
            schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
          },
        },
      },
    ],
    [
      'a schema nobody can be held to strictly',
      config({ responseJsonSchema: { type: 'object' } }),
      { text: { format: { type: 'json_schema', name: 'answer', strict: false, schema: { type: 'object' } } } },
    ],
    ['no thoughts', config({ thinkingConfig: { thinkingBudget: 0 } }), { reasoning: { enabled: false } }],
    [
      'as many thoughts as the model likes',
      config({ thinkingConfig: { thinkingBudget: -1, includeThoughts: true } }),
      { reasoning: { enabled: true, summary: 'auto' } },
    ],
    [
      'a budget of thoughts, which is part of the limit',
      config({ maxOutputTokens: 9, thinkingConfig: { thinkingBudget: 5 } }),
      { max_output_tokens: 9, reasoning: { enabled: true, max_tokens: 5, within_output: true } },
    ],
    ['a level of thoughts', config({ thinkingConfig: { thinkingLevel: 'HIGH' } }), { reasoning: { enabled: true, effort: 'high' } }],
    ['the highest level', config({ thinkingConfig: { thinkingLevel: 'XHIGH' } }), { reasoning: { enabled: true, effort: 'xhigh' } }],
    ['no level in particular', config({ thinkingConfig: { thinkingLevel: 'THINKING_LEVEL_UNSPECIFIED' } }), {}],
    ['thoughts to be read', config({ thinkingConfig: { includeThoughts: true } }), { reasoning: { summary: 'auto' } }],
    [
      'pictures',
      config({ responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '2K' } }),
      { modalities: ['text', 'image'], image_config: { aspect_ratio: '16:9', image_size: '2K' } },
    ],
    ['words alone', config({ responseModalities: ['TEXT'] }), {}],
    [
      'instructions',
      { systemInstruction: { role: 'system', parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] } },
      { instructions: 'Be brief.\n\nBe kind.' },
    ],
    ['instructions that are a text', { systemInstruction: 'Be brief.' }, { instructions: 'Be brief.' }],
    ['a tier', { serviceTier: 'flex' }, { service_tier: 'flex' }],
    ['the usual tier', { serviceTier: 'STANDARD' }, { service_tier: 'default' }],
    ['labels', { labels: { team: 'a' } }, { metadata: { team: 'a' } }],
    ['settings of its vendor', { safetySettings: [{ category: 'x' }] }, { safetySettings: [{ category: 'x' }] }],
    [
      'what steers the gateway',
      { provider: { sort: 'price' }, models: ['b/b'], session_id: 's' },
      { provider: { sort: 'price' }, models: ['b/b'], session_id: 's' },
    ],
    ['fields that are null, or nobody knows', { tools: null, toolConfig: null, generationConfig: null, cachedContent: null, nobody: 1 }, {}],
  ])('%s', (_name, sent, expected) => {
    const body = ask(sent)
    expect(body).toEqual({ ...BARE, ...expected })
    expect(() => decodeResponsesRequest(body)).not.toThrow()
  })

  it('are also read under the names of the protocol buffers', () => {
    expect(
      ask({
        system_instruction: { parts: [{ text: 'Be brief.' }] },
        generation_config: { max_output_tokens: 9, thinking_config: { thinking_budget: 0 } },
        tools: [{ function_declarations: [{ name: 'look', parameters_json_schema: { type: 'object', snake_case: 1 } }] }],
        tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['look'] } },
      }),
    ).toEqual({
      ...BARE,
      instructions: 'Be brief.',
      max_output_tokens: 9,
      reasoning: { enabled: false },
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object', snake_case: 1 }, strict: false }],
      tool_choice: { type: 'function', name: 'look' },
    })
  })
})

describe('input as in the vendor’s own samples', () => {
  it('may omit the brackets of a list with one entry', () => {
    const parts = { text: 'Hi' }
    const declared = { name: 'go' }
    const bare = {
      contents: { parts },
      system_instruction: { parts: { text: 'Be brief.' } },
      tools: { function_declarations: declared },
      safety_settings: { category: 'c' },
    }
    const listed = {
      contents: [{ parts: [parts] }],
      systemInstruction: 'Be brief.',
      tools: [{ functionDeclarations: [declared] }],
      safetySettings: [{ category: 'c' }],
    }
    expect(ask(bare)).toEqual(ask(listed))
    expect(ask({ contents: { parts: { function_response: { name: 'go', response: { parts } } } } })['input']).toMatchObject([
      { output: '{"parts":{"text":"Hi"}}' },
    ])
  })
  it.each(['auto', 'any', 'none', 'Validated'])('may write a mode in lower case: %s', (mode) => {
    const tools = [{ functionDeclarations: [{ name: 'go' }] }]
    const by = (word: string): Json => ask({ tools, toolConfig: { functionCallingConfig: { mode: word, allowedFunctionNames: ['go'] } } })
    expect(by(mode)).toEqual(by(mode.toUpperCase()))
  })
  it('is an instruction of one part', () => {
    expect(ask({ systemInstruction: { text: 'Be brief.' } })['instructions']).toBe('Be brief.')
    expect(ask({ systemInstruction: { parts: [], text: null } })).not.toHaveProperty('instructions')
  })
})

describe('tools', () => {
  const look = { name: 'look', description: 'Looks.', parameters: { type: 'OBJECT', properties: { at: { type: 'STRING' } }, required: ['at'] } }
  const told = {
    type: 'function',
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
    strict: false,
  }

  it('are functions of the caller, by either kind of schema or without any', () => {
    const plain = { name: 'see', parametersJsonSchema: { type: 'object' } }
    expect(ask({ tools: [{ functionDeclarations: [look, plain] }, { functionDeclarations: [{ name: 'go' }] }] })['tools']).toEqual([
      told,
      { type: 'function', name: 'see', parameters: { type: 'object' }, strict: false },
      { type: 'function', name: 'go', strict: false },
    ])
  })

  it('are strict where that is requested and possible', () => {
    const sent = {
      tools: [{ functionDeclarations: [look, { name: 'go', parametersJsonSchema: { type: 'object' } }] }],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    }
    expect(ask(sent)).toMatchObject({
      tools: [
        { name: 'look', strict: true, parameters: { additionalProperties: false } },
        { name: 'go', strict: false },
      ],
      tool_choice: 'auto',
    })
  })

  it('include those of its vendor, which the gateway or a provider runs', () => {
    const { tools } = decodeResponsesRequest(ask({ tools: [{ googleSearch: {} }, { urlContext: {} }, { codeExecution: {} }] }))
    expect(tools).toMatchObject([{ type: 'gateway:web_search' }, { type: 'gateway:web_fetch' }, { type: 'code_interpreter' }])
  })

  it('are the gateway’s own', () => {
    expect(ask({ tools: [{ type: 'gateway:datetime' }] })['tools']).toEqual([{ type: 'gateway:datetime' }])
  })

  it.each<readonly [object, unknown]>([
    [{ mode: 'AUTO' }, 'auto'],
    [{ mode: 'NONE' }, 'none'],
    [{ mode: 'ANY' }, 'required'],
    [
      { mode: 'ANY', allowedFunctionNames: ['look'] },
      { type: 'function', name: 'look' },
    ],
    [
      { mode: 'ANY', allowedFunctionNames: ['look', 'go'] },
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'look' },
          { type: 'function', name: 'go' },
        ],
      },
    ],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['go'] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'go' }] },
    ],
    [{ mode: 'MODE_UNSPECIFIED' }, undefined],
  ])('are chosen by %j', (functionCallingConfig, expected) => {
    const body = ask({ tools: [{ functionDeclarations: [look, { name: 'go' }] }], toolConfig: { functionCallingConfig } })
    expect(body['tool_choice']).toEqual(expected)
    expect(() => decodeResponsesRequest(body)).not.toThrow()
  })
})

describe('refused, by a path of this format, is', () => {
  const refusal = (body: object): string => {
    let read: ReturnType<typeof generateContentToResponses> | undefined
    try {
      read = generateContentToResponses({ contents, ...body }, URL)
      decodeResponsesRequest(read.body)
    } catch (error) {
      return withOwnPath(error as GatewayError, read?.pathOf).message
    }
    return 'nothing'
  }
  it.each<readonly [string, object, string]>([
    ['no conversation', { contents: [] }, 'contents is empty'],
    ['one that says nothing', { contents: [{ parts: [{ text: '' }] }] }, 'contents say nothing'],
    ['a role nobody knows', { contents: [{ role: 'wizard', parts: [] }] }, 'contents[0].role'],
    ['a part without content', { contents: [{ parts: [{ words: 'Hi' }] }] }, 'contents[0].parts[0] has no content this format knows: it has words'],
    [
      'a part of two things',
      { contents: [{ parts: [{ text: 'Hi', inlineData: { mimeType: 'image/png', data: '' } }] }] },
      'contents[0].parts[0] must be one thing',
    ],
    [
      'a call of a user',
      { contents: [{ parts: [{ functionCall: { name: 'go' } }] }] },
      'contents[0].parts[0].functionCall must stand in a turn of the role "model"',
    ],
    [
      'a result of a model',
      { contents: [{ role: 'model', parts: [{ functionResponse: { name: 'go' } }] }] },
      'contents[0].parts[0].functionResponse must stand in a turn of the role "user"',
    ],
    ['several answers', { generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount must be 1'],
    ['a prompt that was stored', { cachedContent: 'cachedContents/x' }, 'cachedContent must be null'],
    ['an answer in sound', { generationConfig: { responseModalities: ['AUDIO'] } }, 'generationConfig.responseModalities[0] must be TEXT or IMAGE'],
    ['a mode nobody knows', { toolConfig: { functionCallingConfig: { mode: 'SOME' } } }, 'toolConfig.functionCallingConfig.mode must be AUTO'],
    ['a tool only its vendor runs', { tools: [{ googleMaps: {} }] }, 'tools[0].googleMaps is a tool only its vendor runs'],
    ['sound of a kind nobody hears', { contents: [{ parts: [{ inlineData: { mimeType: 'audio/midi', data: 'AA==' } }] }] }, 'contents[0]'],
    ['two functions of one name', { tools: [{ functionDeclarations: [{ name: 'go' }, { name: 'go' }] }] }, 'nothing'],
  ])('%s', (_name, body, expected) => {
    expect(refusal(body)).toContain(expected)
  })
})

it('arguments keep numbers that no double can represent', () => {
  const text =
    '{"contents":[{"role":"model","parts":[{"function_call":{"name":"go","args":{"id":12345678901234567890}}}]},{"parts":[{"text":"Hi"}]}]}'
  const { body } = generateContentToResponses(JSON.parse(text), URL, () => parseExact(text))
  expect(body['input']).toMatchObject([{ type: 'function_call', arguments: '{"id":12345678901234567890}' }, {}])
})

it.each(BODIES.map((body, at) => [at, body] as const))('a request within the limits is accepted (%i)', (_at, body) => {
  expect(() => decodeResponsesRequest(generateContentToResponses(body, URL).body)).not.toThrow()
})
