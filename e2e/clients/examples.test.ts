import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'

/**
 * The promises of `examples`: every program there runs against a newly started gateway, with nothing but its keys, and the gateway accepts every
 * configuration there, with nothing set but the variables it names.
 */
const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const node = async (args: readonly string[], env: { readonly [name: string]: string }, cwd: string): Promise<string> =>
  (await run(process.execPath, args, { cwd, env: { PATH: process.env['PATH'], ...env }, timeout: 50_000 })).stdout

/** The output of each program, or a part of it. */
const PROGRAMS: { readonly [name: string]: RegExp } = {
  agent: /^\(simulated\) The tool answered: 1 dice show 4\n$/,
  'ai-sdk': /^Hello from the AI SDK!\n$/,
  anthropic: /^\(simulated\) The user wrote something\. .*Hello from another format!\n \{\n {2}input_tokens: 7,/,
  fallback: /^demo\/echo: Is anybody there\?\n(demo\/error-503 at Demo \(simulated\): 503\n)+demo\/echo at Demo \(simulated\): 200\n$/,
  'server-tool': /type: 'gateway:datetime',\n {2}status: 'completed'[^]*\(simulated\) The tool answered: /,
  stream: /^Hello, Signalbox!\n \{\n {2}input_tokens: 5,/,
  structured: /^\{ title: 'example', minutes: 1, ingredients: \[ 'example' \] \}\n$/,
  tools: /^get_weather\(\{"city":"Paris"\}\)\n\(simulated\) The tool answered: \{"city":"Paris","celsius":21,"sky":"clear"\}\n$/,
  webhook: /^example\n[^]*gen_ai\.request\.model: "demo\/echo"[^]*trace\.metadata\.team: "docs"/,
}

/** The output for each configuration's models. None of them reports something that stays off. */
const CONFIGURATIONS: { readonly [name: string]: RegExp } = {
  'local-first': /^ {2}acme\/chat: vllm \(openai\/gpt-oss-20b\), groq \(openai\/gpt-oss-20b\)$/m,
  production: /^providers: demo /m,
  team: /^providers: anthropic, demo, openai /m,
  'two-vendors': /^ {2}acme\/assistant: openai \(gpt-5-mini\), azure \(gpt-5-mini\)$/m,
}

const namesOf = (pattern: string): readonly string[] =>
  globSync(`examples/${pattern}`, { cwd: ROOT })
    .map((path) => path.replace(/^.*\/|\.\w+$/g, ''))
    .sort()

describe('examples', () => {
  let gateway: TestGateway
  let folder: string
  beforeAll(async () => {
    gateway = await startGateway()
    folder = await mkdtemp(join(tmpdir(), 'signalbox-examples-'))
  })
  afterAll(async () => {
    await gateway.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('are all tested here, and all listed in the README', () => {
    expect(namesOf('*.ts')).toEqual(Object.keys(PROGRAMS).sort())
    expect(namesOf('configs/*.yaml')).toEqual(Object.keys(CONFIGURATIONS).sort())
    const page = readFileSync(join(ROOT, 'examples/README.md'), 'utf8')
    for (const name of Object.keys(PROGRAMS)) expect(page).toContain(`(${name}.ts)`)
    for (const name of Object.keys(CONFIGURATIONS)) expect(page).toContain(`(configs/${name}.yaml)`)
  })

  it.each(Object.entries(PROGRAMS))('%s.ts runs', async (name, output) => {
    const keys = { SIGNALBOX_URL: gateway.url, SIGNALBOX_API_KEY: TEST_KEY, SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY }
    expect(await node([`examples/${name}.ts`], keys, ROOT)).toMatch(output)
  })

  it('leaves nothing behind: the destination of webhook.ts is gone', async () => {
    const response = await gateway.api('GET', '/api/v1/observability/destinations')
    expect(await response.json()).toMatchObject({ data: [] })
  })

  it.each(Object.entries(CONFIGURATIONS))('configs/%s.yaml is served', async (name, says) => {
    const file = join(ROOT, `examples/configs/${name}.yaml`)
    const text = readFileSync(file, 'utf8')
    const named = [...text.matchAll(/\$\{(\w+)\}|\b(SIGNALBOX_\w+)/g)].map((match) => match[1] ?? match[2]!)
    const env = Object.fromEntries(named.map((variable) => [variable, VALUES[variable] ?? `${variable}-value`.padEnd(16, '-')]))
    const said = await node([join(ROOT, 'bin/signalbox.js'), 'check', '--config', file], env, folder)
    expect(said).toMatch(says)
    expect(said).not.toContain('note:')
  })
})

/** Variables whose values are validated. */
const VALUES: { readonly [name: string]: string } = {
  AZURE_RESOURCE_NAME: 'acme',
  DATABASE_URL: 'postgres://signalbox@db.internal/signalbox',
  REDIS_URL: 'redis://redis.internal',
  SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
}
