import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseSource } from '../../src/config/source.ts'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway } from '../../src/testing/start-gateway.ts'

/** `signalbox import` as an operator sees it, and what callers of the old gateway get from the new one. */
const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-import-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

async function signalbox(args: readonly string[], env: { readonly [name: string]: string } = {}, input = ''): Promise<Outcome> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...env } })
  child.stdin.end(input)
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: code as number | null, out, errors }
}

const SMALL = 'model_list: [{ model_name: gpt-4o, litellm_params: { model: openai/gpt-4o, api_key: os.environ/TEAM_KEY } }]\n'

describe('signalbox import', () => {
  it('prints a configuration that signalbox check accepts, with the variables to set', async () => {
    await writeFile(join(directory, 'config.yaml'), SMALL)
    const imported = await signalbox(['import', 'litellm', 'config.yaml'])
    expect(imported).toMatchObject({ code: 0, errors: 'Set these variables where the gateway starts; they are not set here: TEAM_KEY\n' })
    await writeFile(join(directory, 'signalbox.yaml'), imported.out)
    const checked = await signalbox(['check'], { TEAM_KEY: 'key' })
    expect(checked.out).toContain('openai/gpt-4o: openai (gpt-4o)')
    expect(checked.code).toBe(0)
  })

  it('writes a new file that only its owner can read, and does not overwrite one', async () => {
    const first = await signalbox(['import', 'litellm', '-', '--output', 'signalbox.yaml'], { TEAM_KEY: 'key' }, SMALL)
    expect(first).toEqual({ code: 0, out: '', errors: 'Wrote signalbox.yaml. To see what it serves, run: signalbox check --config signalbox.yaml\n' })
    const file = join(directory, 'signalbox.yaml')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const before = await readFile(file, 'utf8')
    const second = await signalbox(['import', 'litellm', '-', '--output', 'signalbox.yaml'], {}, SMALL.replace('gpt-4o', 'other'))
    expect(second).toMatchObject({ code: 1, out: '', errors: '"signalbox.yaml" is there already, and stays as it is\n' })
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  it('reads included files, relative to the including file', async () => {
    await mkdir(join(directory, 'proxy'))
    await writeFile(join(directory, 'proxy/config.yaml'), `include: [models.yaml]\n${SMALL}`)
    await writeFile(join(directory, 'proxy/models.yaml'), SMALL.replaceAll('gpt-4o', 'gpt-5-mini'))
    const { code, out } = await signalbox(['import', 'litellm', 'proxy/config.yaml'], { TEAM_KEY: 'key' })
    expect(out).toMatch(/gpt-4o[^]*gpt-5-mini/)
    expect(code).toBe(0)
    const piped = await signalbox(['import', 'litellm', '-'], {}, `include: [models.yaml]\n${SMALL}`)
    expect(piped).toMatchObject({ code: 1, out: '' })
    expect(piped.errors).toMatch(/^".*models\.yaml" cannot be read \(ENOENT\)\n$/)
  })

  it('exits with 1 where callers may request models that nothing serves, and says so', async () => {
    const { code, out, errors } = await signalbox(
      ['import', 'litellm', '-'],
      { TEAM_KEY: 'key' },
      `${SMALL.trim().slice(0, -1)}, { model_name: old, litellm_params: { model: sagemaker/x } }]\n`,
    )
    expect(code).toBe(1)
    expect(out).toContain('gpt-4o')
    expect(errors).toMatch(/^Not converted, although callers may ask for it:\n {2}model_list\[1\]: "old" is not carried/)
  })

  it.each([
    ['a format nobody knows', ['import', 'litelm', '-'], SMALL, /"litelm" is not a known format; expected one of: litellm, bifrost, portkey/],
    ['a file that is not there', ['import', 'litellm', 'gone.yaml'], '', /"gone\.yaml" cannot be read \(ENOENT\)/],
    ['what is no YAML', ['import', 'litellm', '-'], 'a: [', /1 problem in the configuration/],
    [
      'another file',
      ['import', 'litellm', '-'],
      'services: { web: {} }',
      /not a configuration of the LiteLLM proxy: a list under model_list is expected/,
    ],
  ])('refuses %s in a sentence', async (_, args, input, sentence) => {
    const { code, out, errors } = await signalbox(args, {}, input)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(errors).toMatch(sentence)
    expect(errors).not.toContain('    at ')
  })
})

describe('files of other gateways', () => {
  it.each([
    [
      'bifrost',
      { providers: { openai: { keys: [{ name: 'a', value: 'env.TEAM_KEY', models: ['gpt-4o'], weight: 1 }] } } },
      /openai\/gpt-4o: openai \(gpt-4o\)/,
    ],
    ['portkey', { provider: 'openai', api_key: '${TEAM_KEY}', override_params: { model: 'gpt-4o' } }, /portkey\/config: openai \(gpt-4o\)/],
  ])('of %s become a configuration that signalbox check accepts', async (format, config, served) => {
    const imported = await signalbox(['import', format, '-', '--output', 'signalbox.yaml'], { TEAM_KEY: 'key' }, JSON.stringify(config))
    expect(imported.code).toBe(0)
    const checked = await signalbox(['check'], { TEAM_KEY: 'key' })
    expect(checked.out).toMatch(served)
    expect(checked.code).toBe(0)
  })
})

describe('a gateway with an imported configuration', () => {
  let eu: FakeUpstream
  let us: FakeUpstream
  let own: FakeUpstream
  beforeEach(async () => {
    eu = await startFakeUpstream(stream(chatText('from the EU')))
    us = await startFakeUpstream(stream(chatText('from the US')))
    own = await startFakeUpstream(stream(chatText('from our own server')))
  })
  afterEach(() => Promise.all([eu.close(), us.close(), own.close()]))

  const ENV = { AZURE_KEY_EU: 'key-eu', AZURE_KEY_US: 'key-us', LAB_KEY: 'key-lab', OPENAI_API_KEY: 'key-of-something-else' }
  const config = (): string => `
model_list:
  - model_name: support
    litellm_params: { model: azure/chat-eu, api_base: "${eu.url.replace(/\/v1$/, '')}", api_key: os.environ/AZURE_KEY_EU, api_version: "2024-10-21", order: 1 }
    model_info: { base_model: azure/gpt-4o }
  - model_name: support
    litellm_params: { model: azure/chat-us, api_base: "${us.url.replace(/\/v1$/, '')}", api_key: os.environ/AZURE_KEY_US, order: 2 }
    model_info: { base_model: azure/gpt-4o }
  - model_name: own
    litellm_params: { model: openai/meta-llama/Llama-3.3-70B-Instruct, api_base: "${own.url}", api_key: os.environ/LAB_KEY, rpm: 1 }
  - model_name: "lab/*"
    litellm_params: { model: "hosted_vllm/*", api_base: "${own.url}" }
router_settings:
  model_group_alias: { gpt-4: support }
  fallbacks: [{ support: [own] }]
general_settings: { master_key: sk-1234-of-old }
`

  it('answers callers of the old gateway under the same model names, in both formats', async () => {
    const imported = await signalbox(['import', 'litellm', '-'], ENV, config())
    expect(imported.code).toBe(0)
    const { tree } = parseSource(imported.out, 'signalbox.yaml')
    // The callers' key remains valid.
    const key = 'sk-1234-of-old'
    const gateway = await startGateway(tree as { readonly [key: string]: unknown }, { ...ENV, SIGNALBOX_API_KEY: key })
    const chat = async (model: string): Promise<unknown> => {
      const response = await gateway.api('POST', '/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }, key)
      const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: unknown }
      return body.choices?.[0]?.message.content ?? body
    }
    const respond = async (model: string): Promise<unknown> => {
      const response = await gateway.respond({ model, input: 'hi' }, { key })
      const body = (await response.json()) as { output_text?: string }
      return body.output_text ?? body
    }
    try {
      for (const name of ['support', 'gpt-4']) {
        expect(await chat(name)).toBe('from the EU')
        expect(await respond(name)).toBe('from the EU')
      }
      expect(us.requests).toHaveLength(0)
      expect(eu.requests[0]).toMatchObject({ headers: { 'api-key': 'key-eu' } })
      expect(JSON.stringify(eu.requests[0]?.body)).toContain('chat-eu')
      expect(await chat('lab/any-model')).toBe('from our own server')
      expect(await chat('own')).toBe('from our own server')
      expect(own.requests.at(-1)).toMatchObject({ headers: { authorization: 'Bearer key-lab' } })
      // The limit of the entry, which is the only one that serves this name.
      expect(await chat('own')).toMatchObject({ error: { code: 429 } })
    } finally {
      await gateway.close()
    }
  })

  it('fails over to the second deployment, and then to the fallback', async () => {
    await eu.close()
    eu = await startFakeUpstream(status(503, { error: { message: 'down' } }))
    const { out } = await signalbox(['import', 'litellm', '-'], ENV, config())
    const gateway = await startGateway(parseSource(out, 'signalbox.yaml').tree as { readonly [key: string]: unknown }, ENV)
    const ask = async (): Promise<string | undefined> =>
      ((await (await gateway.respond({ model: 'support', input: 'hi' })).json()) as { output_text?: string }).output_text
    try {
      expect(['from the US', 'from our own server']).toContain(await ask())
      expect(eu.requests.length).toBeGreaterThan(0)
    } finally {
      await gateway.close()
    }
  })
})
