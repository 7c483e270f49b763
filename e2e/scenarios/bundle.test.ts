import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { currentBundle } from '../../bin/bundle.js'

const ROOT = join(import.meta.dirname, '../..')
const KEY = `sk-sb-v1-${'a1'.repeat(24)}`
const MANAGEMENT_KEY = `sk-sb-mgmt-v1-${'b2'.repeat(24)}`
let directory: string
let child: ChildProcess | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-bundle-'))
})
afterEach(async () => {
  if (child !== undefined) {
    child.kill('SIGKILL')
    await once(child, 'exit')
    child = undefined
  }
  rmSync(directory, { recursive: true, force: true })
})

/** The content of an image: the entry, the bundle, the manifest; no sources and no packages. */
function installWithoutSources(): void {
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(ROOT, part), join(directory, part), { recursive: true })
}

async function serve(): Promise<string> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
    SIGNALBOX_PORT: '0',
    SIGNALBOX_DATA_DIR: join(directory, 'data'),
    SIGNALBOX_API_KEY: KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
  }
  const started = spawn(process.execPath, [join(directory, 'bin/signalbox.js'), 'serve'], { cwd: directory, env })
  child = started
  let output = ''
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await expect.poll(() => output, { timeout: 15_000, interval: 20 }).toMatch(/listens on \S+/)
  return /listens on (\S+)/.exec(output)![1]!
}

const call = (url: string, path: string, key: string, body?: object): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

describe('the bundle', () => {
  it('is what runs if it was built from the current sources', () => {
    expect(currentBundle()).toMatch(/dist/)
  })

  it('serves, including modules that are loaded late, without sources and packages', async () => {
    installWithoutSources()
    const url = await serve()
    const answer = await call(url, '/api/v1/responses', KEY, { model: 'demo/echo', input: 'Grüße, 🐬!' })
    expect(answer.status).toBe(200)
    expect(JSON.stringify(await answer.json())).toContain('Grüße, 🐬!')
    const destination = { type: 'file', name: 'kept', config: { path: 'calls.jsonl' }, sampling_rate: 1 }
    const created = await call(url, '/api/v1/observability/destinations', MANAGEMENT_KEY, destination)
    expect([created.status, await created.text()]).toEqual([201, expect.stringContaining('calls.jsonl')])
    for (const path of ['/openapi.json', '/api/v1/models', '/metrics']) {
      expect([path, (await call(url, path, path === '/metrics' ? MANAGEMENT_KEY : KEY)).status]).toEqual([path, 200])
    }
    // A document is read in a thread that has its own entry.
    const file = {
      type: 'input_file',
      filename: 'a.pdf',
      file_data: `data:application/pdf;base64,${Buffer.from('%PDF-1.4 broken').toString('base64')}`,
    }
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'read' }, file] }]
    const read = await call(url, '/api/v1/responses', KEY, { model: 'demo/echo', input, plugins: [{ id: 'file-parser' }] })
    expect(read.status).toBeLessThan(500)
  })

  it('is ignored when a source has changed since, so that edits always take effect', () => {
    installWithoutSources()
    const source = join(directory, 'src/cli/run.ts')
    mkdirSync(join(directory, 'src/cli'), { recursive: true })
    writeFileSync(source, "export const run = () => process.stdout.write('from the sources')\n")
    utimesSync(source, new Date(), new Date())
    const { stdout } = spawnSync(process.execPath, [join(directory, 'bin/signalbox.js')], { encoding: 'utf8' })
    expect(stdout).toBe('from the sources')
  })

  it('is what a package of npm holds, in place of the sources', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: ROOT, encoding: 'utf8' })
    const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }]
    const paths = files.map(({ path }) => path)
    const kinds = new Set(paths.map((path) => path.split('/', 1)[0]))
    expect([...kinds].sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json'])
    expect(paths).toContain('dist/current.json')
  })

  it('is required where the npm package is installed without it, because Node does not strip types there', () => {
    const place = join(directory, 'node_modules/signalbox')
    for (const part of ['bin', 'package.json']) cpSync(join(ROOT, part), join(place, part), { recursive: true })
    const { status, stderr } = spawnSync(process.execPath, [join(place, 'bin/signalbox.js'), 'check'], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^This package was installed without its bundle[^\n]*\n$/)])
  })

  it.each(['bin/signalbox.js', 'scripts/prestart.js'])('says what to run in a checkout without packages (%s)', (entry) => {
    for (const part of ['bin', 'scripts/prestart.js', 'package.json']) cpSync(join(ROOT, part), join(directory, part), { recursive: true })
    for (const part of ['src/cli', 'console']) mkdirSync(join(directory, part), { recursive: true })
    writeFileSync(join(directory, 'src/cli/run.ts'), "import 'commander'\n")
    const { status, stderr } = spawnSync(process.execPath, [join(directory, entry)], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, 'The packages are not installed yet. Run this first: npm ci\n'])
  })
})
