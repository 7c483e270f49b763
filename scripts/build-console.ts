/**
 * Builds the web console into `dist/`, from where it is served: hashed files, each also compressed, and a list of them. Nothing outside the list is
 * served.
 *
 *   node scripts/build-console.ts               always
 *   node scripts/build-console.ts --if-stale    as `npm start` and the tests do
 */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'
import { removeOldBuilds } from '../bin/builds.js'
import { BUNDLES, consoleFingerprint, isConsoleCurrent } from '../bin/bundle.js'

const ROOT = join(import.meta.dirname, '..')
const CONSOLE = join(ROOT, 'console')
/** For smaller files the header is longer than the saving. */
const WORTH_COMPRESSING = 1_024

/** Of the packages in the bundle: it ships with them, and is not served. */
const LICENCES = 'licences.md'

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const compressions = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
}
type Encoding = keyof typeof compressions

interface ListedFile {
  /** Relative to the console's address: `assets/index-abc.js`. */
  readonly path: string
  readonly type: string
  readonly encodings: readonly Encoding[]
}

async function compress(folder: string, path: string): Promise<ListedFile> {
  const type = TYPES[extname(path)]
  if (type === undefined) throw new Error(`the console has a file of a kind that is not served: ${path}`)
  const bytes = readFileSync(join(folder, path))
  const encodings: Encoding[] = []
  for (const encoding of bytes.length < WORTH_COMPRESSING ? [] : (['br', 'gzip'] as const)) {
    writeFileSync(join(folder, `${path}.${encoding}`), await compressions[encoding](bytes))
    encodings.push(encoding)
  }
  return { path, type, encodings }
}

async function main(): Promise<void> {
  const started = performance.now()
  const sources = consoleFingerprint() ?? ''
  const folder = `console-${Date.now()}-${createHash('sha256').update(sources).digest('hex').slice(0, 8)}`
  const target = join(BUNDLES, folder)
  mkdirSync(target, { recursive: true })
  // The caller's environment may have another value (test runners set one), with which the build would be slow and verbose.
  process.env['NODE_ENV'] = 'production'
  await build({
    root: CONSOLE,
    configFile: join(CONSOLE, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: target, emptyOutDir: true, license: { fileName: LICENCES } },
  })
  const paths = globSync('**/*.*', { cwd: target, exclude: [LICENCES] }).toSorted()
  const files = await Promise.all(paths.map((path) => compress(target, path)))
  writeFileSync(join(target, 'files.json'), JSON.stringify(files))
  writeFileSync(join(BUNDLES, 'next-console.json'), `${JSON.stringify({ sources, folder })}\n`)
  renameSync(join(BUNDLES, 'next-console.json'), join(BUNDLES, 'console.json'))
  const made = readdirSync(BUNDLES).filter((name) => /^console-\d/.test(name))
  removeOldBuilds(made.toSorted().toReversed())
  console.log(`built the console into dist/${folder}: ${files.length} files in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

if (!process.argv.includes('--if-stale') || !isConsoleCurrent()) await main()
