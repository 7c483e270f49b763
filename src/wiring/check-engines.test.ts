import { expect, it } from 'vitest'
import { configSchema } from '../config/schema.ts'
import { toConfig } from '../config/to-config.ts'
import type { ConfigError } from '../core/config-error.ts'
import { decodeResponsesRequest } from '../doors/responses/decode-request.ts'
import { documentEngines } from '../plugins/document-engines/index.ts'
import { searchEngines } from '../tools/search-engines/index.ts'
import { checkEngines } from './check-engines.ts'

function problems(file: object, env: { readonly [name: string]: string } = {}): readonly string[] {
  try {
    checkEngines(toConfig(configSchema.parse(file), {}, undefined), env)
    return []
  } catch (error) {
    return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`)
  }
}

it('refuses engines that do not exist, and suggests the one that was probably meant', () => {
  expect(
    problems({
      tools: { web_search: { engine: 'braave', engines: { gogle: { api_key: 'k' }, serxng: { base_url: 'http://127.0.0.1:8888' } } } },
      plugins: { file_parser: { engine: 'tesseract', engines: { 'mistral-orc': { api_key: 'k' } } } },
    }),
  ).toEqual([
    expect.stringMatching(/^tools\.web_search\.engine: "braave"; did you mean brave\?/),
    expect.stringMatching(/^tools\.web_search\.engines\.gogle: unknown engine; expected one of: /),
    expect.stringMatching(/^tools\.web_search\.engines\.serxng: unknown engine; did you mean searxng\?/),
    expect.stringMatching(/^plugins\.file_parser\.engine: "tesseract"; expected one of: pdf-text, native, /),
    expect.stringMatching(/^plugins\.file_parser\.engines\.mistral-orc: unknown engine; did you mean mistral-ocr\?/),
  ])
})

it('accepts those that exist, and those every gateway has', () => {
  for (const engine of ['auto', 'exa']) expect(problems({ tools: { web_search: { engine, engines: { exa: { api_key: 'k' } } } } })).toEqual([])
  for (const engine of ['pdf-text', 'native']) expect(problems({ plugins: { file_parser: { engine } } })).toEqual([])
})

it('refuses engines that lack their key or address, with the setting and the variable', () => {
  expect(
    problems({
      tools: { web_search: { engine: 'brave', engines: { searxng: {}, exa: { price: 0.01 } } } },
      plugins: { file_parser: { engine: 'mistral-ocr' } },
    }),
  ).toEqual([
    'tools.web_search.engines.searxng.base_url: missing; expected it here or in SEARXNG_URL or SEARXNG_BASE_URL, because the engine is never asked without',
    'tools.web_search.engines.exa.api_key: missing; expected it here or in EXA_API_KEY, because the engine is never asked without',
    'tools.web_search.engines.brave.api_key: missing; expected it here or in BRAVE_SEARCH_API_KEY or BRAVE_API_KEY, because tools.web_search.engine names it',
    'plugins.file_parser.engines.mistral-ocr.api_key: missing; expected it here or in MISTRAL_API_KEY, because plugins.file_parser.engine names it',
  ])
})

it('accepts engines whose key or URL is in the environment, and one that the built-in reader replaces', () => {
  const env = { SEARXNG_URL: 'http://127.0.0.1:8888', MISTRAL_API_KEY: 'k' }
  expect(
    problems({ tools: { web_search: { engine: 'searxng', engines: { searxng: {} } } }, plugins: { file_parser: { engine: 'mistral-ocr' } } }, env),
  ).toEqual([])
  expect(problems({ plugins: { file_parser: { engine: 'cloudflare-ai' } } })).toEqual([])
})

it.each([
  ...searchEngines.flatMap(({ name, pages }) => [
    [`${name} for a search by the model`, { tools: [{ type: 'gateway:web_search', parameters: { engine: name } }] }] as const,
    [`${name} for a search in the vendors' spelling`, { tools: [{ type: 'web_search', engine: name }] }] as const,
    [`${name} for a search before the call`, { plugins: [{ id: 'web', engine: name }] }] as const,
    ...(pages === undefined ? [] : [[`${name} for pages`, { tools: [{ type: 'gateway:web_fetch', parameters: { engine: name } }] }] as const]),
  ]),
  ...documentEngines.map(({ name }) => [`${name} for documents`, { plugins: [{ id: 'file-parser', pdf: { engine: name } }] }] as const),
])('lets callers name %s', (_what, body) => {
  expect(() => decodeResponsesRequest({ model: 'acme/small', input: 'hi', ...body })).not.toThrow()
})
