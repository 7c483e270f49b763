import { expect, it } from 'vitest'
import { configSchema } from '../config/schema.ts'
import { toConfig } from '../config/to-config.ts'
import type { ConfigError } from '../core/config-error.ts'
import { checkEngineNames } from './engine-names.ts'

function problems(file: object): readonly string[] {
  try {
    checkEngineNames(toConfig(configSchema.parse(file), {}, undefined))
    return []
  } catch (error) {
    return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`)
  }
}

it('refuses engines that do not exist, with the one that was meant', () => {
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

it('takes those that exist, and those every gateway has', () => {
  for (const engine of ['auto', 'brave']) expect(problems({ tools: { web_search: { engine, engines: { exa: { api_key: 'k' } } } } })).toEqual([])
  for (const engine of ['pdf-text', 'native', 'mistral-ocr']) expect(problems({ plugins: { file_parser: { engine } } })).toEqual([])
})
