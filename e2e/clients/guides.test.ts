import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { buildCatalog } from '../../src/catalog/build.ts'
import { createProgram, type Commands } from '../../src/cli/program.ts'
import { loadConfig } from '../../src/config/load.ts'
import { dialects } from '../../src/dialects/index.ts'
import { PROVIDERS } from '../../src/providers/index.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { shellCommands } from '../../src/testing/shell-commands.ts'
import { startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { openPlugins } from '../../src/wiring/plugins.ts'
import { openTooling } from '../../src/wiring/tooling.ts'

/**
 * What the documentation shows works word for word: every configuration is accepted, every call and every body of a request is answered, every program
 * with a client that is installed here runs, and every command exists with its options.
 */
const ROOT = join(import.meta.dirname, '../..')
const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/*.md'], { cwd: ROOT, exclude: ['CHANGELOG.md', 'docs/decisions/**'] }).toSorted()

interface Block {
  readonly name: string
  readonly text: string
}

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8')
const blocksOf = (language: string): readonly Block[] =>
  PAGES.flatMap((page) =>
    [...textOf(page).matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(([, text = ''], at) => ({
      name: `${page} ${at + 1}`,
      text,
    })),
  )

// ---- what samples assume, as the pages say: an installation with these providers and models ----

const PRICING = { input: 1, output: 2 }
const MODELS = ['acme/small', 'acme/large', 'acme/big', 'acme/other', 'acme/guard', 'acme/draw-image', 'bolt/large']
const providersAt = (base_url: string): readonly object[] =>
  ['acme', 'bolt', 'openai'].map((slug) => ({ slug, dialect: 'openai-chat', base_url, api_keys: ['key'] }))
const models = MODELS.map((slug) => {
  const [provider, upstream_model] = slug.split('/')
  return { slug, context_length: 128_000, endpoints: [{ provider, upstream_model, pricing: PRICING }] }
})
const VENDORS = {
  ANTHROPIC_API_KEY: 'key',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE000000000',
  AWS_SECRET_ACCESS_KEY: 'key',
  AZURE_API_KEY: 'key',
  AZURE_RESOURCE_NAME: 'acme',
  OPENAI_API_KEY: 'key',
}

describe('configurations', () => {
  interface Tree {
    readonly providers?: readonly { readonly slug: string }[]
    readonly models?: readonly { readonly slug: string }[]
  }
  const besides = <T extends { readonly slug: string }>(own: readonly T[] = [], assumed: readonly T[]): readonly T[] => [
    ...own,
    ...assumed.filter(({ slug }) => !own.some((entry) => entry.slug === slug)),
  ]

  it.each(blocksOf('yaml').map(({ name, text }) => [name, text]))('%s is accepted', async (_name, text) => {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-guides-'))
    try {
      const tree = parse(text) as Tree
      const assumed = providersAt('http://127.0.0.1:9101/v1').slice(0, 2) as readonly { readonly slug: string }[]
      const file = join(folder, 'signalbox.json')
      await writeFile(file, JSON.stringify({ ...tree, providers: besides(tree.providers, assumed), models: besides(tree.models, models) }))
      const named = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, variable = '']) => [variable, 'value'])
      const env = { ...Object.fromEntries(named), ...VENDORS } as { readonly [name: string]: string }
      const config = await loadConfig({ file, env, cwd: folder })
      const catalog = await buildCatalog(config, PROVIDERS, dialects, env)
      await openPlugins({ config, env, catalog: () => catalog }).close()
      await openTooling({ config, env, catalog: () => catalog }).close()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('calls', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeAll(async () => {
    upstream = await startFakeUpstream(stream(chatText('Hello')))
    gateway = await startGateway({ providers: providersAt(upstream.url), models })
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  /** A sample has no real keys; the label of a key is refused in place of one. */
  const keyed = (text: string): string => text.replaceAll(/\b(sk|pk)-\.\.\./g, '$1-0123456789abcdef')

  async function call(args: readonly string[]): Promise<Response> {
    const headers: { [name: string]: string } = {}
    let url = ''
    let method: string | undefined
    let body: string | null = null
    for (let at = 1; at < args.length; at++) {
      const arg = args[at]!
      if (arg === '-H') {
        const [name = '', value = ''] = args[++at]!.split(/: (.*)/)
        headers[name] = value
      } else if (arg === '-d') body = keyed(args[++at]!)
      else if (arg === '-X') method = args[++at]
      else if (!/^-[Ni]$/.test(arg)) url = arg.replace('http://127.0.0.1:8787', gateway.url)
    }
    return fetch(url, { method: method ?? (body === null ? 'GET' : 'POST'), headers, body })
  }

  /** Variables that a page asks its reader to set to the id in the answer before. */
  function idIn(answer: string): { readonly [name: string]: string } {
    const { data } = JSON.parse(answer) as { readonly data: { readonly id?: string } | readonly { readonly id: string }[] }
    const id = ('id' in data ? data.id : (data as readonly { readonly id: string }[])[0]?.id) ?? ''
    return { DESTINATION: `${gateway.url}/api/v1/observability/destinations/${id}`, DEFAULT_GUARDRAIL_ID: id }
  }

  const scripts = PAGES.map((page) => ({
    page,
    text: blocksOf('sh')
      .flatMap(({ name, text }) => (name.startsWith(`${page} `) ? text : []))
      .join(''),
  }))
  /** That of operations computes a date with another program. */
  const withCalls = scripts.filter(({ page, text }) => /^curl /m.test(text) && page !== 'docs/guides/operations.md')

  it.each(withCalls)('$page: every curl is answered', async ({ text }) => {
    const keys = { SIGNALBOX_API_KEY: TEST_KEY, SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY }
    let learnt: { readonly [name: string]: string } | undefined
    for (const args of shellCommands(text, (name) => ({ ...keys, ...learnt })[name] ?? '')) {
      if (args[0] !== 'curl') continue
      const response = await call(args)
      const answer = await response.text()
      expect([args.join(' '), response.ok || `${response.status} ${answer}`]).toEqual([args.join(' '), true])
      if (answer.startsWith('{"data"')) learnt ??= idIn(answer)
    }
    // The default guardrail would apply to the calls of the other pages.
    if (text.includes('DEFAULT_GUARDRAIL_ID')) await gateway.api('DELETE', `/api/v1/guardrails/${learnt!['DEFAULT_GUARDRAIL_ID']}`)
  })

  /** Blocks with one body, or with one in each line; some are parts of a body or of an answer. */
  const bodiesIn = (text: string): readonly { readonly [field: string]: unknown }[] => {
    const whole = text.startsWith('{') ? text : `{${text}}`
    try {
      return [JSON.parse(whole) as { readonly [field: string]: unknown }]
    } catch {
      const lines = text.trim().split('\n')
      return lines.map((line) => JSON.parse(line) as { readonly [field: string]: unknown })
    }
  }

  it.each(blocksOf('json').map(({ name, text }) => [name, text]))('%s is JSON, and accepted if it is a request', async (_name, text) => {
    for (const body of bodiesIn(text)) {
      if (body['input'] === undefined) continue
      const response = await gateway.api('POST', '/api/v1/route/explain', body, TEST_KEY)
      expect([response.status, response.ok ? '' : await response.text()]).toEqual([200, ''])
    }
  })

  /** In prose and in commands, with an ellipsis or a variable in the place of an id. */
  it('routes exist', async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { readonly paths: { readonly [path: string]: unknown } }
    const routes = Object.keys(paths).map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+(/[^/]+)?')}$`))
    const told = PAGES.flatMap((page) =>
      [...textOf(page).matchAll(/(?:`|8787)(?:(?:GET|POST|PATCH|PUT|DELETE) )?(\/api\/(?:v1|v1beta)\/\w[^\s`'"?#]*)/g)].map(
        ([, path = '']) => [page, path] as const,
      ),
    )
    expect(told.length).toBeGreaterThan(100)
    expect(told.filter(([, path]) => !routes.some((route) => route.test(path)))).toEqual([])
  })

  const installed = ['openai', '@anthropic-ai/sdk']
  const programs = blocksOf('ts').filter(({ text }) => installed.includes(/^import .* from '([^']+)'/m.exec(text)?.[1] ?? ''))

  it.each(programs.map(({ name, text }) => [name, text]))('the program %s runs', async (_name, text) => {
    const env = { PATH: process.env['PATH'], SIGNALBOX_API_KEY: TEST_KEY }
    const program = text.replaceAll('http://127.0.0.1:8787', gateway.url).replace('openai/text-embedding-3-small', 'demo/embed')
    const run = promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', program], { cwd: ROOT, env, timeout: 50_000 })
    await expect(run).resolves.toMatchObject({ stderr: '' })
  })
})

describe('commands', () => {
  const commands = new Proxy({} as Commands, { get: () => async () => undefined })
  const COMMAND = /^(?:npx signalbox|npm run (?:--silent )?signalbox --|signalbox) (?!\.\.\.|COMMAND)(.+?)(?: > .*)?$/
  const lines = PAGES.flatMap((page) => {
    const text = textOf(page)
    const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
    const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'))
    return [...spans, ...blocks].flatMap((line) => COMMAND.exec(line)?.[1] ?? []).map((command) => [page, command] as const)
  })

  it('are found', () => expect(lines.length).toBeGreaterThan(25))

  it.each(lines)('%s: signalbox %s exists', async (_page, command) => {
    const [args = []] = shellCommands(command, () => 'x')
    const program = createProgram(commands, '0')
    for (const each of [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)]) {
      each.exitOverride().configureOutput({ writeErr: () => undefined })
    }
    // In a sentence a command may be named without its arguments.
    const fault = await program.parseAsync(args, { from: 'user' }).then(
      () => undefined,
      (error: unknown) => error as { readonly code: string; readonly message: string },
    )
    expect(fault?.code === 'commander.missingArgument' ? undefined : fault?.message).toBeUndefined()
  })
})
